"""The spanning tree, as Pinocchio computes it, with the independent velocities."""
