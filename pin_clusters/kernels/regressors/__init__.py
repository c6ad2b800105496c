"""Regressors: torques and energies as linear functions of the inertial parameters."""
