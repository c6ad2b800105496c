"""Kernels that compute Pinocchio's kinematics of the spanning tree from independent velocities."""
