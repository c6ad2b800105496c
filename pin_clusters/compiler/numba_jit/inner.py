"""Compilation of inner functions, which only kernels call, to unoptimised LLVM code.

By default, Numba optimises, compiles and loads every inner function. This is unnecessary, because the calling kernel
inlines the LLVM code and optimises it again. The compiler in this module replaces methods of Numba's code libraries to
skip these steps. Numba versions that lack these methods compile inner functions as usual.
"""

from typing import Any

from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typed_passes import NativeLowering

_KNOWN = ("_optimize_final_module", "_finalize_final_module", "_finalize_dynamic_globals", "_finalized")


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):
    """Compiler pass that translates a function to LLVM code, but not to machine code."""

    _name = "lowering_of_inner_functions"

    def run_pass(self, state: Any) -> bool:
        """Translate the function to LLVM code, and register a placeholder in place of the machine code."""
        state.flags.no_compile = True
        super().run_pass(state)
        lowered, library = state["cr"], state.library
        if all(hasattr(library, name) for name in _KNOWN):
            library._optimize_final_module = lambda: None
            library._finalize_final_module = lambda: _finalized(library)
        never_called = list[Any]().append  # a unique object, by which callers find the code
        state.targetctx.insert_user_function(never_called, lowered.fndesc, [library])
        state.reload_init.extend(getattr(library, "_reload_init", ()))  # new in Numba 0.63
        state["cr"] = lowered._replace(cfunc=never_called)
        return True


def _finalized(library: Any) -> None:
    library._finalize_dynamic_globals()
    library._finalized = True


class InnerCompiler(CompilerBase):
    """Numba's compiler, in which ``_Lowering`` is the last pass."""

    def define_pipelines(self) -> list[PassManager]:
        passes = PassManager("inner")
        for part in (DefaultPassBuilder.define_untyped_pipeline, DefaultPassBuilder.define_typed_pipeline):
            passes.passes.extend(part(self.state).passes)
        for lowering, says in DefaultPassBuilder.define_nopython_lowering_pipeline(self.state).passes:
            passes.add_pass(_Lowering if lowering is NativeLowering else lowering, says)
        passes.finalize()
        return [passes]
