"""Inverse and forward dynamics, energies, operational space, motors and losses."""
