"""Inertial parameters: values, regressors, and the combinations that torques determine."""
