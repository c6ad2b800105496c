"""Compiled functions of the baselines, over two flat arrays; with the kernels they share vectors of 3 and 6, no more.

``I`` holds whole numbers: sizes and where things are, then the tables (``fields.py``); ``W`` holds constants and room.
Vectors of space are [linear; angular] in the orientation of the world about the origin of their own body's frame, so
that from body to body only points move and nothing is lost far from the origin of the world. Accelerations contain
that of gravity upward.

Nothing here is imported before it is needed: it imports Numba.
"""
