"""Placements, motions, Jacobians, momentum and their derivatives; inverse kinematics."""
