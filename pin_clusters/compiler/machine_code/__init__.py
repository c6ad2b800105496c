"""Machine code of programs: LLVM's intermediate representation, object files, and functions of this process.

``function.Compiled`` is a program as a function, ``text`` and ``instructions`` write what LLVM reads, ``machine`` makes
object files of it, ``loading`` functions of those.
"""
