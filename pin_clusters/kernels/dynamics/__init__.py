"""Recursive algorithms as passes over clusters; ``x_with`` builds kernel ``x`` for given operations on LOOP clusters."""
