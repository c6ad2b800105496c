"""Closed loops: constraint equations, coupling Jacobian G and bias g."""
