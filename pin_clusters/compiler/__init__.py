"""The compiler generates machine code for kernels and for robots, and connects Python functions to this code.

There are two kinds of machine code. *Generic kernels* work for every robot: ``numba_jit`` compiles the functions in
``pin_clusters.kernels``. *Robot-specific code* works for one robot: ``tracing`` runs the same functions on symbolic
expressions and records a list of operations; ``machine_code`` compiles this list with LLVM, and ``specialising`` calls
the result in place of the kernel. ``choice`` selects the kind of code.

``operations`` declares every algorithm once. ``entry_points`` provides the kernels; it imports Numba when the first
kernel is compiled. ``calls`` writes plans, which list the steps of a typical call; the C extension (``_native.c``)
executes them. Calls without a plan run the Python function. ``native`` contains the C extension, functions for memory,
and the cache folders.
"""
