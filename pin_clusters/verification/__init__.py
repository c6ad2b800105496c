"""Reference implementations and baselines, which check results, and peers, against which this package is timed.

``reference`` and ``null_space`` are reference implementations. ``baselines`` contains methods without cluster
algorithms, which also serve as references. None of them shares code with the kernels. ``peers`` and ``timing`` are for
``pin-clusters bench`` and ``benchmarks/``.
"""
