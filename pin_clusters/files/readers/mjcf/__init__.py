"""Reader of MJCF, the format of MuJoCo; it does not need the MuJoCo library.

``_document`` resolves includes and defaults, ``_bodies`` reads the bodies, and ``_tree`` builds a ``pin.Model``.
``_equalities``, ``_relations``, ``_actuators`` (tendons) and ``_rods`` read constraints between joints. ``_passive``
reads springs, dampers and friction; ``_controls`` reads position actuators and sensors for ``pc.read_controls``.
"""

from ._controls import Servo as Servo
from ._controls import read_controls as read_controls
from ._model import buildModelFromMJCF as buildModelFromMJCF
from ._model import from_mjcf as from_mjcf
