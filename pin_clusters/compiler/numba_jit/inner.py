"""How Numba compiles what kernels call: as far as they need it, which is the unoptimised code.

By default every inner function is optimised, made machine code and loaded, though all that is used of it is the code
that goes into its callers, where it is optimised again. A pipeline of its own spares that. It holds on to names inside
Numba's code library, of one object at a time; a Numba that has other ones does what it always does.
"""

from typing import Any

from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typed_passes import NativeLowering

_KNOWN = ("_optimize_final_module", "_finalize_final_module", "_finalize_dynamic_globals", "_finalized")


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):
    """Lowers to LLVM's representation, and no further."""

    _name = "lowering_of_inner_functions"

    def run_pass(self, state: Any) -> bool:
        """Lower, and give the dispatcher something in place of machine code."""
        state.flags.no_compile = True
        super().run_pass(state)
        lowered, library = state["cr"], state.library
        if all(hasattr(library, name) for name in _KNOWN):
            library._optimize_final_module = lambda: None
            library._finalize_final_module = lambda: _finalized(library)
        never_called = list[Any]().append  # a builtin of its own: callers find the code by it
        state.targetctx.insert_user_function(never_called, lowered.fndesc, [library])
        state.reload_init.extend(getattr(library, "_reload_init", ()))  # since 0.63
        state["cr"] = lowered._replace(cfunc=never_called)
        return True


def _finalized(library: Any) -> None:
    library._finalize_dynamic_globals()
    library._finalized = True


class InnerCompiler(CompilerBase):
    """Numba's compiler, with that lowering."""

    def define_pipelines(self) -> list[PassManager]:
        """Return the one pipeline: nopython."""
        passes = PassManager("inner")
        for part in (DefaultPassBuilder.define_untyped_pipeline, DefaultPassBuilder.define_typed_pipeline):
            passes.passes.extend(part(self.state).passes)
        for lowering, says in DefaultPassBuilder.define_nopython_lowering_pipeline(self.state).passes:
            passes.add_pass(_Lowering if lowering is NativeLowering else lowering, says)
        passes.finalize()
        return [passes]
