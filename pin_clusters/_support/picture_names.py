"""User-defined names in Matplotlib figures."""


def literal(name: str) -> str:
    """Escape a name so that Matplotlib draws it literally.

    Matplotlib parses text between dollar signs as mathematics, and omits names that begin with ``_`` from legends.
    """
    name = name.replace("$", r"\$")
    return f"\N{ZERO WIDTH SPACE}{name}" if name.startswith("_") else name
