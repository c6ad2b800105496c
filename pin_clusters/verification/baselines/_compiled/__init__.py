"""Compiled functions of the baselines, which work on two flat arrays.

They share only 3- and 6-vector code with the kernels. ``I`` contains integers: sizes and offsets, then the tables
(``fields.py``). ``W`` contains constants and work space. Spatial vectors are [linear; angular], in world orientation
about the origin of the own body's frame. From body to body only reference points move, so no digits are lost far from
the world origin. Accelerations include an upward gravity term.

Import this subpackage only when it is needed, because it imports Numba.
"""
