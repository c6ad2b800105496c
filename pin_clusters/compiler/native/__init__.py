"""The process and the processor as they are found, and the folders of compiled code."""
