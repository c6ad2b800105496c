"""Object files become functions of this process, which stay as long as it lives."""

import threading
from collections.abc import Callable, Sequence

from ...errors import NotAvailableError
from ..native.memory import may_execute
from . import store
from .machine import binding, host, object_code

_FORMAT = "1"  # of the module texts: what is kept of older ones is not found
_lock = threading.RLock()
_loaded: "dict[str, Loaded | None]" = {}


class Loaded:
    """A module in the memory of this process; ``size``: bytes of its object file."""

    def __init__(self, data: bytes) -> None:
        llvm = binding()
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        machine = llvm.Target.from_triple(host().triple).create_target_machine(jit=True)
        # in one piece: beside large libraries, code and its constants may else lie too far apart for each other
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine, use_lmm=True)
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(data))
        self._engine.finalize_object()
        self.size = len(data)

    def address(self, name: str) -> int:
        """Return where a function is."""
        return int(self._engine.get_function_address(name))


def load(text: str, *, optimise: bool = True) -> Loaded:
    """Return a module, compiled for this processor: in this process, on disk, or made now.

    Args:
        text: The module.
        optimise: Whether to simplify before machine code is made.

    Raises:
        NotAvailableError: This process may not execute what it writes to memory.
    """
    found = load_made_of([text], lambda: text, optimise=optimise)
    assert found is not None
    return found


def load_made_of(what: Sequence[str], make: Callable[[], str], *, optimise: bool = False) -> Loaded | None:
    """Return a module that is not even written where it is kept, by all that it is made of; None if there is none.

    Raises:
        NotAvailableError: This process may not execute what it writes to memory.
    """
    if not may_execute():
        raise NotAvailableError(
            "this process may not execute what it writes to memory (SELinux, systemd or PR_SET_MDWE refuse it), so no "
            "machine code of programs can be made."
        )
    mine = host()
    name = store.digest(
        _FORMAT, ".".join(map(str, binding().llvm_version_info)), mine.cpu, mine.features, str(optimise), *what
    )

    def made() -> bytes:
        text = make()
        return object_code(text, optimise=optimise) if text else b""

    with _lock:
        if name not in _loaded:
            data = store.kept(name, made)
            _loaded[name] = Loaded(data) if data else None
        return _loaded[name]
