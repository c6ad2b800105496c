"""Closed loops: their equations, and the motions that they leave."""
