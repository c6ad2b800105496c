"""Numbers, small vectors, and memory."""
