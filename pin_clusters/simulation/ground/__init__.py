"""Contact with a ground and with other shapes, and joints at their stops.

``compiled_engine`` runs steps in compiled code (``compiled_steps``, whose kernel is ``kernels/steps/ground.py``) and
leaves all other steps to ``python_engine``. Both solve for impulses with ``solver``. ``events`` has the method of that
name. ``plane``, ``points``, ``shapes`` and ``near`` describe what can touch; ``world`` gathers it.
"""

from .plane import Ground as Ground
from .points import ContactPoints as ContactPoints
from .points import contact_points as contact_points
from .world import on_ground as on_ground
