"""Contacts, impacts, and the forces of constraints."""
