"""Algorithms for one state, one file each: check the arguments, call one kernel, return.

``kinematics``, ``dynamics``, ``contacts`` (contact and impact dynamics, constraint forces), inertial ``parameters``.
"""
