"""Compiled functions of the baselines. All data are in two flat arrays, ``I`` and ``W``.

The only code that the functions share with the kernels handles vectors of length 3 and 6. ``I`` contains integers:
sizes, offsets and tables (see ``fields.py``). ``W`` contains constants and work space. Spatial vectors are [linear;
angular], in world axes about the origin of the body frame, so that results are accurate far from the world origin. All
accelerations include an upward acceleration that represents gravity.

Import this subpackage only when it is needed, because it imports Numba.
"""
