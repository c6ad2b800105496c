"""Below Python: kernels, the calls that lead to them, and what the process and the processor are.

``kernels`` are compiled functions over flat arrays, which know no class and no Pinocchio: numbers and tables, what is
done to a body, a loop or a cluster, and algorithms, which are passes that call it. Others see ``entry_points``, which
imports neither Numba nor a kernel before it is needed. ``calls`` writes plans, by which the C extension takes a usual
call from Python to a kernel; all other calls go to the Python function. ``_native.c`` states which memory it may use.
``native`` finds out what the process and the processor are, and where compiled code is kept.
"""
