"""Recursive algorithms: passes over the clusters."""
