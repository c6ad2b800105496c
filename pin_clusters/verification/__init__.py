"""Check results with reference implementations and baselines, and compare computing times with other solvers (peers).

``reference`` and ``null_space`` are reference implementations. ``baselines`` contains methods that do not use cluster
algorithms; these also serve as references. All of them are independent of the kernels. ``pin-clusters bench`` and
``benchmarks/`` use ``peers`` and ``timing``.
"""
