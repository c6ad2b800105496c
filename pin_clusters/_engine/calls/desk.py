"""The functions that have machine code, and what it finds in the table of the process."""

from __future__ import annotations

from typing import NamedTuple

from ..native.process import FOUND as OF_PROCESS
from ..operations import CALL_GROUPS, CALLED, Function, Helper

# what is found in the process and of classes here, by name
FOUND = (
    *OF_PROCESS, "desk_class", "data_class", "model", "desk", "contact_desk", "model_class", "model_desk",
    "pin_integrate", "pin_difference", "reference_frame", "local",
)  # fmt: skip


class Entry(NamedTuple):
    """What a function gives to its kernel.

    Attributes:
        name: Of the function.
        kernel: Of the data's kernels: rnea, aba, crba, minverse, energy.
        result: Name of the data's result that the kernel's tables lead to.
        arguments: For each array of the kernel: ``q`` or ``v`` if given, of that size; ``0``: zeros of size nv. Then
            ``f`` if external forces are given, which the kernel reads behind its result.
        returns: ``vector``, ``matrix``, or which of the energies: ``kinetic``, ``potential``, ``mechanical``.
    """

    name: str
    kernel: str
    result: str
    arguments: str
    returns: str


# what the writers of machine code call it, by the name of a result
_RETURNS = {
    "kinetic_energy": "kinetic", "potential_energy": "potential", "mechanical_energy": "mechanical",
    "dtau_dq": "position", "dg_dq": "position", "dtau_dv": "rate", "dh_dq": "total", "C": "coriolis",
    "static": "static", "kinetic": "kinetic", "potential": "potential",
}  # fmt: skip


def _entry(one: Function | Helper) -> Entry:
    """Return what a declared function gives to its kernel."""
    arguments, returns = "", ""
    if isinstance(one, Function):
        sizes = {"q": "q", "0": "0", "fext": "f", "[fext]": ""}
        arguments = "".join(sizes.get(name, "v") for name in one.takes.split())
        named = {**_RETURNS, "M": "mass"} if one.operation.group == "derivatives" else _RETURNS
        returns = one.operation.result or " ".join(named[name] for name in one.gives.split() if name in named)
    return Entry(one.name, one.operation.name, one.tables, arguments, returns)


def _of_group(name: str) -> tuple[Entry, ...]:
    return tuple(_entry(one) for one in CALLED if one.operation.group == name)


ENTRIES = _of_group("data")
HELPERS = _of_group("tree")
"""What functions of the tree call: they tell whether the call was the usual one."""
COLUMNS = _of_group("columns")
"""What asks for columns of the inverse mass matrix; the first one is called by others that do."""
(HYBRID,) = _of_group("hybrid")
(CONTACT_DYNAMICS,) = _of_group("contacts")
"""Contacts that are kept closed, given by Pinocchio's objects."""
DERIVATIVES_OF = _of_group("derivatives")
"""Derivatives of dynamics; what they return stands in the data, but for those of forward dynamics."""
(CONTACT_DERIVATIVES,) = _of_group("contact derivatives")
REGRESSOR, *ENERGY_REGRESSORS = _of_group("regressor")
"""What those of energies return stands in the data."""
ALL = tuple(_entry(one) for one in CALLED)
ASK = "ask"
"""What asks functions of the user: a function that only kernels call."""
GROUPS = {
    **{name: tuple(one.name for one in CALLED if one.operation.group == name) for name in CALL_GROUPS},
    "moves": ("integrate", "difference", "project"),
    "asking": (ASK,),
}
"""All functions that have machine code; where there is no library, the code of a group is made when it is needed."""
TABLE = (*FOUND, *(name for names in GROUPS.values() for name in names))
"""Of each number of the table its name; the last ones are the Python functions."""
