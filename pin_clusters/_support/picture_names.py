"""User-defined names as text in Matplotlib figures."""


def literal(name: str) -> str:
    """Escape a name; Matplotlib parses ``$`` as mathematics and omits names with a leading ``_`` from legends."""
    name = name.replace("$", r"\$")
    return f"\N{ZERO WIDTH SPACE}{name}" if name.startswith("_") else name
