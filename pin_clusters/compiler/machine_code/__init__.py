"""Generation of machine code for programs: LLVM's intermediate representation, object files and callable functions.

``emitter`` writes expressions as LLVM text, ``loop_emitter`` writes the expressions of equal limbs as loops, and
``text`` combines them into functions and modules. ``machine`` compiles modules to object files, and ``loading`` loads
object files into this process. ``function.Compiled`` compiles a program to a Python callable.
"""
