"""Robot-specific kernels for many states on a GPU; the kernels use the caller's stream and arrays."""
