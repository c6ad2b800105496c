"""Other routes to the same numbers, and peers that this package is timed against.

``reference`` and ``null_space`` are oracles, ``baselines`` what one does without cluster algorithms, which is one, too:
they share no code with the kernels. ``peers`` and ``timing`` are for ``pin-clusters bench`` and ``benchmarks/``.
"""
