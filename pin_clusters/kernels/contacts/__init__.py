"""Contacts that are kept closed."""
