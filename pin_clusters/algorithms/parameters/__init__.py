"""Inertial parameters, their regressors, and the combinations that can be identified from torques."""
