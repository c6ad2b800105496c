"""The algorithms, written once as traceable Python over flat arrays. Nothing here imports Pinocchio.

From the bottom: ``numbers`` (vectors, memory), ``tables`` (layouts of the tables), ``bodies``, ``loops`` and ``tree``,
``clusters`` (what is done to one, a file per kind), ``dynamics`` (passes over them) and ``variations`` (their
derivatives), ``force_columns`` (many forces at once), ``contacts``, ``regressors``, ``moves`` and ``steps`` (motion),
``rows`` (many states).

What all of them take has one name, and docstrings tell of the rest only: the tables ``index``, ``params`` and ``work``
(``tables/layout.py``; those of the tree and of regressors have layouts of their own) and ``address``, where they are;
the configuration ``q`` of the tree, independent velocities ``v``, accelerations ``a``, torques ``tau``; cluster ``c``
and its row ``C``, body ``b`` and its row ``B``, column ``k`` of a cluster; records ``rates`` of variations
(``tables/variations_layout.py``); rows ``first`` to ``last`` - 1 of a batch.
"""
