"""Layouts of the tables that the kernels read and write, and functions to access the entries by name."""
