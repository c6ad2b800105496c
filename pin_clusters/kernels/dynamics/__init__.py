"""Recursive algorithms: passes over the clusters.

Functions ``x_with`` build x for given operations on LOOP clusters; models without loops do not compile these.
"""
