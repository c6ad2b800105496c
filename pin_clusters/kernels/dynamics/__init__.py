"""Recursive algorithms as passes over clusters; ``x_with`` builds kernel ``x`` from functions for LOOP clusters."""
