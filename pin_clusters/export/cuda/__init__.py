"""Robot-specific kernels for rows of states on a GPU; they use the caller's stream and arrays."""
