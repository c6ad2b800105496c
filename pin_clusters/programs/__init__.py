"""One robot as a list of operations: traced, made machine code, put in the place of kernels, written as C."""
