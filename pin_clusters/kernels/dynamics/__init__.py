"""Recursive algorithms, as passes over the clusters.

Each function ``x_with`` builds kernel ``x`` with the given operations on LOOP clusters. Models without loops do not
compile these operations.
"""
