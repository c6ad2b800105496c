"""Inertial parameters: what torques tell of them."""
