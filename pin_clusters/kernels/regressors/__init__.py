"""Torques and energies as linear functions of the inertial parameters."""
