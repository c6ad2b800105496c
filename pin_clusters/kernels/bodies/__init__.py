"""Bodies and joints: where they are, and how they move."""
