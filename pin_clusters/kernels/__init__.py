"""The algorithms, written once as traceable Python over flat arrays. Nothing here imports Pinocchio.

From the bottom: ``numbers`` (vectors, memory), ``tables`` (layouts of the tables), ``bodies``, ``loops`` and ``tree``,
``clusters`` (operations on one cluster, a file per kind), ``dynamics`` (passes over the clusters), ``variations``
(their derivatives), ``force_columns`` (many forces at once), ``contacts``, ``regressors``, ``moves`` and ``steps``
(motion), ``rows`` (many states).

Common parameters have the same name everywhere, and docstrings describe only the others. The tables are ``index``,
``params`` and ``work`` (``tables/layout.py``; the tree and regressors have their own layouts), and ``address`` is their
address. ``q`` is the configuration of the tree; ``v``, ``a`` and ``tau`` are independent velocities, accelerations and
torques. ``c`` is a cluster and ``C`` its row, ``b`` a body and ``B`` its row, ``k`` a column of a cluster. ``rates``
are records of variations (``tables/variations_layout.py``); ``first`` to ``last`` - 1 are rows of a batch.
"""
