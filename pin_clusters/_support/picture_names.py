"""Names of users in pictures."""


def literal(name: str) -> str:
    """Return what Matplotlib draws as a name, letter by letter.

    Between two dollar signs it would read mathematics, and legends would leave out what begins with ``_``.
    """
    name = name.replace("$", r"\$")
    return f"\N{ZERO WIDTH SPACE}{name}" if name.startswith("_") else name
