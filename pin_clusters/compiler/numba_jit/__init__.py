"""How kernels are declared, compiled and kept."""
