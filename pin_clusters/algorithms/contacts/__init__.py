"""Contact and impact dynamics, their derivatives, and forces of constraints."""
