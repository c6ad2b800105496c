"""What is asked of one state, a file per algorithm: check the arguments, call one kernel, return.

``kinematics``, ``dynamics`` above them, ``contacts`` (impacts, forces of constraints) and inertial ``parameters``.
"""
