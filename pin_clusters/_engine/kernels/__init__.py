"""Compiled kernels: flat arrays in, flat arrays out. Nothing here knows Pinocchio.

From the bottom: ``compiling`` (how kernels are declared and kept), ``numbers`` (one state's, or those of a pack),
``tables`` (what stands where), ``bodies``, ``loops`` and ``tree``, ``clusters`` (what is done to one, a file per kind),
``dynamics`` (passes over them) and ``variations`` (their derivatives), ``force_columns`` (many forces at once),
``contacts``, ``regressors``, ``moves`` and ``steps`` (motion), ``rows`` (many states).
"""
