"""Batches: many states, one per row."""
