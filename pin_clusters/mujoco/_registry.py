"""The table of installed models, which the callbacks read.

MuJoCo has one callback ``mjcb_passive`` for all models, and one ``mjcb_control``. The callbacks of this package search
the table for the address of the model, and ignore other models. An installed ``Exact`` and its ``MjModel`` cannot be
garbage collected, because ``_owners`` refers to them; the address of a model in the table is therefore valid. Removal
waits up to 2 s for other threads.
"""

import atexit
import ctypes
import os
import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import ModelError
from ._library import CALLBACKS, FIELDS, FUNCTIONS, address_of, callback_cell, offsets
from ._native import module
from ._writer import HEAD, SLOT

_MOST = 512  # number of models that can be installed at the same time
_PATIENCE = 2.0  # time after which an entry in use is abandoned, and never freed, [s]
_lock = threading.RLock()
_owners: dict[int, tuple[int, Any]] = {}  # address of the model -> first word of the slot, owner
_abandoned: list[Any] = []
_table: np.ndarray | None = None


def _started() -> np.ndarray:
    global _table
    if _table is None:
        table = np.zeros(len(HEAD) + SLOT * _MOST, dtype=np.int64)
        for name in FUNCTIONS:
            table[HEAD.index(name)] = address_of(name)
        for name in FIELDS:
            table[HEAD.index(name)] = offsets()[name]
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(module().address("bind"))(table.ctypes.data)
        atexit.register(remove_all)
        if hasattr(os, "register_at_fork"):  # not available on Windows
            os.register_at_fork(after_in_child=_forked)
        _table = table
    return _table


def prepare() -> None:
    """Load the native code and connect it to the table."""
    with _lock:
        _started()


def install(model: int, entry: int, owner: Any, callbacks: Sequence[str]) -> None:
    """Add a model to the table, and make MuJoCo call the callbacks; callbacks of the user are called before."""
    with _lock:
        table = _started()
        if model in _owners:
            if _owners[model][1] is not owner:
                raise ModelError("Exact: another Exact object is installed for this MjModel. Remove it first.")
        else:
            free = (k for k in range(len(HEAD), len(table), SLOT) if not table[k] and not table[k + 2])
            slot = next(free, None)
            if slot is None:
                raise ModelError(f"Exact: {_MOST} models are installed. Remove some of them.")
            _owners[model] = slot, owner
            table[slot + 1], table[slot + 3] = entry, len(callbacks) - 1
            table[slot] = model
            table[0] = max(table[0], (slot - len(HEAD)) // SLOT + 1)
        for name in callbacks:
            cell, own = callback_cell(name), module().address(name)
            if cell.value != own:
                table[HEAD.index(name)] = cell.value or 0
                cell.value = own


def remove(model: int) -> None:
    """Remove a model from the table; after the last removal, restore the callbacks of the user."""
    with _lock:
        if model not in _owners:
            return
        table = _started()
        slot, owner = _owners.pop(model)
        table[slot] = 0
        end = time.monotonic() + _PATIENCE
        while table[slot + 2] and time.monotonic() < end:
            time.sleep(1e-4)
        if table[slot + 2]:  # for example because an error of MuJoCo has ended the callback
            _abandoned.append(owner)
        for name in () if _owners else CALLBACKS:
            cell = callback_cell(name)
            if cell.value == module().address(name):
                cell.value = int(table[HEAD.index(name)]) or None
                table[HEAD.index(name)] = 0


def owner_of(model: int) -> Any:
    return _owners.get(model, (0, None))[1]


def is_installed(model: int, owner: Any, callbacks: Sequence[str]) -> bool:
    """Return whether MuJoCo calls the callbacks for a model; False if the user has replaced a callback."""
    return owner_of(model) is owner and all(callback_cell(x).value == module().address(x) for x in callbacks)


def remove_all() -> None:
    for model in list(_owners):
        remove(model)


def _forked() -> None:
    """Reset the numbers of threads in a child process, which contains only the thread that has forked."""
    global _lock
    _lock = threading.RLock()
    assert _table is not None
    _table[len(HEAD) + 2 :: SLOT] = 0
