"""The compiler: from kernels and robots to machine code, and from a call in Python to that code.

There are two ways to machine code. *Generic kernels* serve every robot: ``numba_jit`` compiles the functions in
``pin_clusters.kernels``. *Robot-specific code* serves one robot: ``tracing`` runs the same functions on expressions,
which gives a list of operations; ``machine_code`` compiles such a list with LLVM, and ``specialising`` puts the result
in the place of a kernel. ``choice`` selects one of the two ways.

``operations`` declares every algorithm once. ``entry_points`` makes kernels available without an import of Numba
before one is needed. ``calls`` writes plans, with which the C extension (``_native.c``) takes a usual call from Python
to a kernel; every other call goes to the Python function. ``native`` describes the process, the processor and the
folders of the caches.
"""
