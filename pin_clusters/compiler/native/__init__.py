"""Properties of the process and the processor, and the folders of compiled code."""
