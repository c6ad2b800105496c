"""Recursive algorithms as passes over clusters; ``x_with(f)`` builds kernel ``x`` with function f for LOOP clusters."""
