"""Functions for the process and the processor, and the folders that store compiled code."""
