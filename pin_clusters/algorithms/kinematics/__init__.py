"""Places, motions, Jacobians and their derivatives."""
