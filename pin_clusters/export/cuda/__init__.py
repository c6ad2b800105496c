"""Rows of states that live on a GPU: kernels of one robot run there, on the caller's stream and arrays."""
