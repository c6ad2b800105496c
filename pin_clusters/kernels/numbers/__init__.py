"""Numbers, small vectors, and access to memory."""
