"""What all parts may use, and what knows no robot."""
