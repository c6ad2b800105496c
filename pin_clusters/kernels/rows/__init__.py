"""Batches of many states, with one state per row."""
