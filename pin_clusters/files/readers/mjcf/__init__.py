"""Robots from MJCF, the format of MuJoCo; read here as a whole, and by no other library.

``_document`` puts includes and defaults together, ``_bodies`` reads the bodies and ``_tree`` makes a ``pin.Model`` of
them; ``_equalities``, ``_relations``, ``_actuators`` (tendons) and ``_rods`` read what ties joints, ``_passive`` what
acts on them.
"""

from ._model import buildModelFromMJCF as buildModelFromMJCF
from ._model import from_mjcf as from_mjcf
