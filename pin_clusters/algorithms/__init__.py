"""The algorithms: one file each; check, one kernel, return."""
