"""Machine code of programs: LLVM's intermediate representation, object files, and functions of this process.

``emitter`` writes expressions as LLVM text, ``loop_emitter`` writes the expressions of equal limbs as loops, and
``text`` combines them into functions and modules. ``machine`` compiles modules to object files, ``loading`` loads
object files into this process, and ``function.Compiled`` makes a program a Python callable.
"""
