"""The forms in which Pinocchio's functions can be called, read from their docstrings."""

import re
from typing import NamedTuple

import pinocchio as pin

ARGUMENT = re.compile(r"\((?P<kind>[\w.:<>, ]+?)\)(?P<name>\w+)")
"""``(ReferenceFrame)reference_frame``, with or without a default behind it."""
SKIPPED = {"Model", "JointModel", "StdVec_ConstraintModel"}
"""Kinds of arguments that make a function build a model, or belong to solvers of Pinocchio."""


class Form(NamedTuple):
    """One overload, without some of its optional arguments.

    Attributes:
        function: Its name.
        names: Of the arguments behind model and data.
        needs_data: Whether the data is the second argument.
    """

    function: str
    names: tuple[str, ...]
    needs_data: bool

    def __str__(self) -> str:
        return f"{self.function}({', '.join(self.names)})"


def forms(function: str) -> list[Form]:
    """Return the forms of a function: each overload with none, one, two, ... of its optional arguments."""
    found: dict[Form, None] = {}
    for line in (getattr(pin, function).__doc__ or "").splitlines():
        match = re.match(rf"\s*{function}\((?P<arguments>.*)\) ->", line)
        if match is None:
            continue
        required, *optional = match["arguments"].split("[")
        listed = [x["name"] for x in ARGUMENT.finditer(required)]
        kinds = {x["name"]: x["kind"] for x in ARGUMENT.finditer(match["arguments"])}
        if not listed or listed[0] != "model" or SKIPPED & {kind for name, kind in kinds.items() if name != "model"}:
            continue
        more = [x["name"] for part in optional for x in ARGUMENT.finditer(part)]
        needs_data = listed[1:2] == ["data"]
        for n in range(len(more) + 1):
            names = (*listed[1 + needs_data :], *more[:n])
            found[Form(function, names, needs_data)] = None
    return list(found)
