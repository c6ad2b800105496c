"""Configurations of closed loops: continuation along a motion, and closing of open loops."""
