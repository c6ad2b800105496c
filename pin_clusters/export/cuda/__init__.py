"""Rows of states on a GPU: robot-specific kernels run there, on the caller's stream and arrays."""
