"""Configurations: loops that are followed, and closed."""
