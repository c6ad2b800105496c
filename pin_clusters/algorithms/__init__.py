"""Algorithms for one state: kinematics, dynamics, contacts, impacts, constraint forces and inertial parameters."""
