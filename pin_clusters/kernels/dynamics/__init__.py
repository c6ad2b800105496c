"""Recursive algorithms as passes over the clusters; ``x_with`` builds kernel ``x`` for given LOOP operations."""
