"""Loads object files into this process. Their functions stay in memory until the process ends."""

import threading
from collections.abc import Callable, Sequence

from ...errors import NotAvailableError
from ..native.memory import may_execute
from . import store
from .machine import binding, host, object_code

_FORMAT = "1"  # version of the module texts; it is part of the file names, so files of other versions are ignored
_lock = threading.RLock()
_loaded: "dict[str, Loaded | None]" = {}


class Loaded:
    """A compiled module in the memory of this process; ``size`` is the size of its object file [bytes]."""

    def __init__(self, data: bytes) -> None:
        llvm = binding()
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        machine = llvm.Target.from_triple(host().triple).create_target_machine(jit=True)
        # use_lmm allocates code and constants in one block, because relative addresses between them have 32 bits.
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine, use_lmm=True)
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(data))
        self._engine.finalize_object()
        self.size = len(data)

    def address(self, name: str) -> int:
        return int(self._engine.get_function_address(name))


def load(text: str, *, optimise: bool = True) -> Loaded:
    """Compile a module for this processor and load it; ``optimise`` enables LLVM's optimisation passes."""
    module = load_made_of([text], lambda: text, optimise=optimise)
    assert module is not None
    return module


def load_made_of(what: Sequence[str], make: Callable[[], str], *, optimise: bool = False) -> Loaded | None:
    """Load the module that is identified by the texts ``what``; return None if ``make`` returns "".

    ``make`` returns the text of the module. It is called only if no compiled code for the same texts exists.
    """
    if not may_execute():
        raise NotAvailableError(
            "programs cannot be compiled, because SELinux, systemd or PR_SET_MDWE forbids this process to execute "
            "memory that it has written."
        )
    processor = host()
    version = ".".join(map(str, binding().llvm_version_info))
    name = store.digest(_FORMAT, version, processor.cpu, processor.features, str(optimise), *what)

    def made() -> bytes:
        text = make()
        return object_code(text, optimise=optimise) if text else b""

    with _lock:
        if name not in _loaded:
            data = store.kept(name, made)
            _loaded[name] = Loaded(data) if data else None
        return _loaded[name]
