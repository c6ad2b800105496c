"""Algorithms for one state: kinematics, dynamics, contacts, impacts, constraint forces and inertial parameters.

Each public function checks its arguments, calls a kernel and returns the result.
"""
