"""Declaration, compilation and caching of the generic kernels with Numba."""
