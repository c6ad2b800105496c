"""The recursive algorithms: passes over the clusters."""
