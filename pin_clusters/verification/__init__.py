"""Other routes to the same numbers, and what this package is timed against."""
