"""Implements the algorithms as compilable, traceable Python functions of flat arrays, without importing Pinocchio.

The subpackages, from the lowest layer up: ``numbers`` (vectors, memory), ``tables`` (layouts of the tables),
``bodies``, ``loops``, ``tree``, ``clusters`` (operations on one cluster, a file per kind), ``dynamics`` (passes over
the clusters), ``variations`` (derivatives), ``force_columns`` (responses to many forces), ``contacts``, ``regressors``,
``moves`` (closing of loops), ``steps`` (simulation) and ``rows`` (batches of states).

Common parameters have the same names in all kernels; docstrings describe only other parameters. The tables ``index``,
``params`` and ``work`` are described in ``tables/layout.py``; ``address`` is the address of these tables. ``q`` is the
configuration of the tree; ``v``, ``a`` and ``tau`` are independent velocities, accelerations and torques. ``C`` is row
``c`` of ``index`` (a cluster); ``B`` is row ``b`` (a body); ``k`` is a cluster's column (independent velocity).
``rates`` contains derivatives (``tables/variations_layout.py``). Batch kernels process rows ``first`` to ``last`` - 1.
"""
