"""Machine code of programs: LLVM's intermediate representation, object files, and functions of this process.

``emitter`` writes expressions as LLVM text, ``loop_emitter`` writes the expressions of equal limbs as loops, and
``text`` combines them to functions and modules. ``machine`` compiles modules to object files, ``loading`` makes
functions of object files, and ``function.Compiled`` is a program as a function.
"""
