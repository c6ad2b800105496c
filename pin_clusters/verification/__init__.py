"""Reference implementations and baselines to check results, and other solvers (peers) to compare computing times.

``reference`` and ``null_space`` are reference implementations. ``baselines`` contains methods that do not use cluster
algorithms; these also serve as references. All of them are independent of the kernels. ``pin-clusters bench`` and
``benchmarks/`` use ``peers`` and ``timing``.
"""
