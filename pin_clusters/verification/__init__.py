"""Reference implementations and baselines, which check results, and peers, against which this package is timed.

``reference`` and ``null_space`` are reference implementations. ``baselines`` contains methods without cluster
algorithms, which also serve as references. All of them are independent of the kernels. ``pin-clusters bench`` and
``benchmarks/`` use ``peers`` and ``timing``.
"""
