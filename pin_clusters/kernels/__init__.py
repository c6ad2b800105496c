"""The algorithms, written once as traceable Python over flat arrays. Nothing here imports Pinocchio.

The subpackages, from the lowest layer up: ``numbers`` (vectors, memory), ``tables`` (layouts of the tables),
``bodies``, ``loops``, ``tree``, ``clusters`` (operations on one cluster, a file per kind), ``dynamics`` (passes over
the clusters), ``variations`` (derivatives), ``force_columns`` (many forces at once), ``contacts``, ``regressors``,
``moves`` (closing of loops), ``steps`` (simulation) and ``rows`` (batches of states).

Common parameters have the same names in all kernels; docstrings describe only other parameters. The tables ``index``,
``params`` and ``work`` are described in ``tables/layout.py``; ``address`` is the address of these tables. ``q`` is the
configuration of the tree; ``v``, ``a`` and ``tau`` are independent velocities, accelerations and torques. ``c`` and
``b`` are the row numbers of a cluster and a body in ``index``, ``C`` and ``B`` are these rows, and ``k`` is a column
of a cluster. ``rates`` contains derivatives (``tables/variations_layout.py``). Batches have rows ``first``..``last``-1.
"""
