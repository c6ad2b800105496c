"""The algorithms, written once as traceable Python over flat arrays. Nothing here imports Pinocchio.

The subpackages, from the lowest layer up: ``numbers`` (vectors, memory), ``tables`` (layouts of the tables),
``bodies``, ``loops``, ``tree``, ``clusters`` (operations on one cluster, a file per kind), ``dynamics`` (passes over
the clusters), ``variations`` (derivatives), ``force_columns`` (many forces at once), ``contacts``, ``regressors``,
``moves`` (closing of loops), ``steps`` (simulation) and ``rows`` (batches of states).

Common parameters have the same names in all kernels; docstrings describe only other parameters. The tables ``index``,
``params`` and ``work`` are described in ``tables/layout.py``; ``address`` is the address of these tables. ``q`` is the
configuration of the tree; ``v``, ``a`` and ``tau`` are independent velocities, accelerations and torques. ``c`` is the
index of a cluster and ``C`` its row, ``b`` is a body and ``B`` its row, and ``k`` is a column of a cluster. ``rates``
contains records of variations (``tables/variations_layout.py``). ``first`` to ``last`` - 1 are the rows of a batch.
"""
