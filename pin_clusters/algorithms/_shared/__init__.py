"""Helpers that several algorithms share: checks of arguments, couplings, calls of kernels."""
