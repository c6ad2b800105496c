"""What is below Python: the process as it is found, the processor, and the library of kernels compiled for it."""
