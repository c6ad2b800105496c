"""Configurations of closed loops: continuation of the dependent joints along a motion, and closing of open loops."""
