"""Conversion of user-defined names to text for Matplotlib figures."""


def literal(name: str) -> str:
    """Escape a name, because Matplotlib parses ``$`` as mathematics and omits names with a leading ``_`` in legends."""
    name = name.replace("$", r"\$")
    return f"\N{ZERO WIDTH SPACE}{name}" if name.startswith("_") else name
