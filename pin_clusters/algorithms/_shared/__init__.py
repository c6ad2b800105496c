"""What several algorithms need: checks of arguments, and what is asked of kernels."""
