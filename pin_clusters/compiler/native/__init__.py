"""The C extension, functions for addresses and memory, and the folders that store compiled code."""
