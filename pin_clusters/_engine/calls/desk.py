"""The functions that have machine code, and what it finds in the table of the process."""

from __future__ import annotations

from ..native.process import FOUND as OF_PROCESS
from ..operations import CALL_GROUPS, CALLED

# what is found in the process and of classes here, by name
FOUND = (
    *OF_PROCESS, "desk_class", "data_class", "model", "desk", "contact_desk", "model_class", "model_desk",
    "pin_integrate", "pin_difference", "reference_frame", "local",
)  # fmt: skip

ASK = "ask"
"""What asks functions of the user: a function that only kernels call."""
GROUPS = {
    **{name: tuple(one.name for one in CALLED if one.operation.group == name) for name in CALL_GROUPS},
    "moves": ("integrate", "difference", "project"),
    "asking": (ASK,),
}
"""All functions that have machine code; that of a group is made when it is needed."""
TABLE = (*FOUND, *(name for names in GROUPS.values() for name in names))
"""Of each number of the table its name; the last ones are the Python functions."""
