"""Below Python: kernels, the calls that lead to them, and what the process and the processor are."""
