"""Recursive algorithms as passes over clusters; function ``x_with`` builds kernel ``x`` for given LOOP operations."""
