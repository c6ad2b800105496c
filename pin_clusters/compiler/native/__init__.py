"""What is below Python: the process and the processor as they are found, and folders of compiled code."""
