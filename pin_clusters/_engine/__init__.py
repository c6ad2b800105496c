"""Below Python: kernels, the calls that lead to them, and what the process and the processor are.

``kernels`` are compiled functions over flat arrays, which know no class and no Pinocchio: numbers and tables, what is
done to a body, a loop or a cluster, and algorithms, which are passes that call it. Others see ``entry_points``, which
imports neither Numba nor a kernel before it is needed. ``calls`` is machine code between Python and a kernel: the usual
call; what it does not know is the Python function's. The rule of what it may touch stands in ``calls/writer.py``.
``native`` finds out what the process and the processor are, and where compiled code is kept.
"""
