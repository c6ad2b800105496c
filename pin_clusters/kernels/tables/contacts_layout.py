"""Layout of the tables of contacts: rows of the request table ``asked``, and the numbers of each contact.

Row 0 of ``asked`` is the header. Row 1 contains the offsets of the fields in Pinocchio's objects, in units of 8 bytes.
One row per contact follows, then lists of the contacts' columns and of the velocities that move the contacts. ``panel``
has the layout described in ``columns_layout``; its last column contains tau - h. ``gram`` has one row and one column
per contact equation; the contact forces are in an additional row, and the right-hand side is in an additional column.
"""

from typing import Final, NamedTuple


class Contacts(NamedTuple):
    """Header row."""

    contact0: int  # rows of Contact are contact0..contact1-1
    contact1: int
    columns: int  # number of contact equations
    width: int  # number of columns of the panel, ``columns`` + 1
    wanted: int  # DYNAMICS, IMPACT or DELASSUS
    reach0: int  # first row of ``columns_layout.Reach``
    step: int  # part of the computation to run: WHOLE, SYSTEM or GIVEN


class Fields(NamedTuple):
    """Row 1: offsets of the fields of ``pin.RigidConstraintModel``, then of its data."""

    placement1: int
    placement2: int
    desired_placement: int
    desired_velocity: int
    desired_acceleration: int
    Kp: int
    Kd: int
    oMc1: int
    oMc2: int
    c1Mc2: int
    velocity1: int
    velocity2: int
    placement_error: int
    velocity_error: int
    acceleration_desired: int
    acceleration_error: int


class Contact(NamedTuple):
    """Row of a contact."""

    body1: int
    root1: int  # the child of the universe among the ancestors of body1
    body2: int
    root2: int
    at: int  # offset of the contact's numbers
    model: int  # address of its pin.RigidConstraintModel
    data: int  # address of its pin.RigidConstraintData
    force: int  # address of the contact force in the ``pin.RigidConstraintData``
    rows: int  # number of contact equations, 3 or 6
    aligned: int  # 1 if the equations are in world axes, 0 if they are in axes of the contact
    column0: int  # rows of Entry with the indices of its columns: column0..column1-1
    column1: int
    path0: int  # rows of Entry with the velocities that move it: path0..path1-1
    path1: int
    same: int  # 1 if body1 has the same root as body1 of the previous contact


DYNAMICS: Final = 0
IMPACT: Final = 1
DELASSUS: Final = 2
WHOLE: Final = 0
SYSTEM: Final = 1  # stop after writing the upper half of the matrix in (O6) and the right-hand side to gram
GIVEN: Final = 2  # the contact forces are inputs, not results
REDUNDANT: Final = -2
"""Return code, in addition to the codes of aba, for linearly dependent contact equations."""

ROUNDING: Final = 1e3 * 2.0**-52
"""Entries of a contact equation that are smaller than this fraction of its lever arms count as rounding errors.

For equations without lever arms, the larger of 1 m and the largest entry replaces the lever arm.
"""
CONTRADICTION: Final = -3
UNUSUAL: Final = -4
"""Additional return codes, described in ``contacts.forces``."""

# Settings of ``contacts.forces``. The first four are the fields of a pin.ProximalSettings; the last three are int64.
ABSOLUTE: Final = 0  # absolute and relative accuracy at which the iteration ends
RELATIVE: Final = 1
MU: Final = 2  # damping mu of (O6)
MOST_ITERATIONS: Final = 3  # maximum number of iterations, an int32 in the lower half of the word
KIND: Final = 4  # method: DIRECT, ITERATED or WHEN_REDUNDANT
TOLD: Final = 5  # 1 if the user has already been warned that the contacts contradict each other
SETTINGS: Final = 6
DIRECT: Final = 0  # solve once with damping MU; if MU is 0 and equations are redundant, use minimum-norm forces
ITERATED: Final = 1  # Pinocchio's proximal iteration
WHEN_REDUNDANT: Final = 2  # use ITERATED only if the equations are redundant

# The first entries of ``numbers`` apply to all contacts.
RESTITUTION: Final = 0
DAMPING: Final = 1
ACCURACY: Final = 2  # an equation is redundant if elimination reduces its diagonal entry to less than this fraction
WORLD: Final = 3  # size 12: pose, in the universe, of the world frame (see ``layout``) that the last body1 uses
FIRST: Final = 15  # offset of the numbers of the first contact
# Numbers of a contact. Each body has two inputs: the rotation from the body's frame to the joint's frame (9), and the
# position of the world in the universe (3), which is not used below a free flyer. The kernel writes the other numbers.
TO_JOINT: Final = 0
HOME: Final = 9
SECOND: Final = 12  # TO_JOINT and HOME of the second body
AXES: Final = 24  # size 9: axes of the contact forces in the world
POINT: Final = 33  # size 3: contact point in the world
AXES2: Final = 36  # AXES and POINT of the second body, whose world frame may differ
POINT2: Final = 45
MISSING: Final = 48  # size 6: right-hand side: the acceleration or velocity that the contact forces must add
CONTACT_NUMBERS: Final = 54
READ_MODEL: Final = 70  # number of float64 words that are read from a ``pin.RigidConstraintModel``
READ_DATA: Final = 80  # number of float64 words that are read from a ``pin.RigidConstraintData``
