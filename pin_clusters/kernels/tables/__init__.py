"""Layouts of the tables that the kernels read and write, and functions that access table entries by name."""
