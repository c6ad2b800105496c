"""Machine code of programs: LLVM's intermediate representation, object files, and functions of this process.

``emitter`` writes expressions as LLVM text, ``loop_emitter`` those of equal limbs as loops, ``text`` functions and
modules of them. ``machine`` makes object files of modules, ``loading`` makes functions of object files, and
``function.Compiled`` is a program as a function.
"""
