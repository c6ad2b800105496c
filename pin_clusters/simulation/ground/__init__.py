"""Contact with a ground and with other shapes, and joints at their stops."""

from .plane import Ground as Ground
from .points import ContactPoints as ContactPoints
from .points import contact_points as contact_points
from .world import on_ground as on_ground
