"""Compiled functions of the baselines, which work on two flat arrays.

They share only 3- and 6-vector code with the kernels. ``I`` contains integers: sizes and offsets, then the tables
(``fields.py``). ``W`` contains constants and work space. Spatial vectors are [linear; angular], in world axes about the
origin of the body frame. Results therefore stay accurate far from the world origin. Accelerations include an upward
gravity term.

Import this subpackage only when it is needed, because it imports Numba.
"""
