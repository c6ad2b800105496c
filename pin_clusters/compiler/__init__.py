"""The compiler: from kernels and robots to machine code, and from a Python call to that code.

Two paths lead to machine code. *Generic kernels* serve every robot: ``numba_jit`` compiles the functions in
``pin_clusters.kernels``. *Robot-specific code* serves one robot: ``tracing`` runs the same functions on expressions,
which yields a list of operations; ``machine_code`` compiles such a list with LLVM, and ``specialising`` uses the result
in place of a kernel. ``choice`` selects the path.

``operations`` declares every algorithm once. ``entry_points`` provides the kernels without importing Numba before one
is needed. ``calls`` writes plans, with which the C extension (``_native.c``) passes a usual call from Python to a
kernel; every other call goes to the Python function. ``native`` describes the process, the processor and the cache
folders.
"""
