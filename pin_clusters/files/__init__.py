"""Robots in and out of files: readers and writers of their formats."""
