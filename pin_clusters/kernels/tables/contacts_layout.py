"""Tables of contacts, which ``contacts`` keeps closed: rows of ``asked``, and numbers per contact.

Row 0 of ``asked`` is the header, row 1 says where Pinocchio's objects keep their fields, in float64 from the address
of an object on; then the contacts, their columns, and the velocities that move them. ``panel`` is as for ``columns``,
with tau - h in the column behind those of the contacts. ``gram`` has a row per column, then one of forces; and a column
more than the contacts, too.
"""

from typing import Final, NamedTuple


class Contacts(NamedTuple):
    """Row 0."""

    contact0: int  # rows of contacts
    contact1: int
    columns: int  # how many there are
    width: int  # columns of the panel: these and one more
    wanted: int  # DYNAMICS, IMPACT or DELASSUS
    reach0: int  # rows of ``columns_layout.Reach``
    step: int  # WHOLE, SYSTEM or GIVEN


class Fields(NamedTuple):
    """Row 1: of ``pin.RigidConstraintModel``, then of its data."""

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
    root1: int  # the body on the universe from which it hangs
    body2: int
    root2: int
    at: int  # its numbers
    model: int  # addresses
    data: int
    force: int  # address of the force in its data
    rows: int  # 3 or 6
    aligned: int  # 1 if its rows are in axes of the world, 0 if in its own
    column0: int  # rows of its columns
    column1: int
    path0: int  # rows of the velocities that move it
    path1: int
    same: int  # 1 if its first body hangs from the same root as that of the contact before


DYNAMICS: Final = 0
IMPACT: Final = 1
DELASSUS: Final = 2
WHOLE: Final = 0
SYSTEM: Final = 1  # stop when gram has the system of the forces: its upper half, and what is asked for behind it
GIVEN: Final = 2  # the forces are known
REDUNDANT: Final = -2
"""What the kernel returns, besides what aba does, if the rows of the contacts are not independent."""

ROUNDING: Final = 1e3 * 2.0**-52
"""A row of a constraint is nothing but rounding if its entries are a smaller share of its lever arms.

Of rows that are given without lever arms, the larger of 1 m and the largest entry takes their place.
"""
CONTRADICTION: Final = -3
UNUSUAL: Final = -4
"""What ``contact_forces`` returns besides: see there."""

# settings of ``contact_forces``; the first four are what a pin.ProximalSettings holds, the last three whole numbers
ABSOLUTE: Final = 0  # accuracies at which an iteration ends
RELATIVE: Final = 1
MU: Final = 2  # damping
MOST_ITERATIONS: Final = 3  # in the lower half of the word
KIND: Final = 4  # DIRECT, ITERATED, or WHEN_REDUNDANT
TOLD: Final = 5  # 1 if the user has been warned that the contacts contradict each other
SETTINGS: Final = 6
DIRECT: Final = 0  # of least norm if rows are redundant, or damped by a number
ITERATED: Final = 1
WHEN_REDUNDANT: Final = 2  # only if rows are redundant

# first numbers
RESTITUTION: Final = 0
DAMPING: Final = 1
ACCURACY: Final = 2  # what is left of a row's own product when those before it are taken away is less: it is redundant
WORLD: Final = 3  # rotation and position of the kernels' world of the last first body
FIRST: Final = 15
# numbers of a contact. Given of each body: rotation from the body's frame to the joint's, and the position of the
# kernels' world in the universe, unless all hangs from a free flyer; then what is found
TO_JOINT: Final = 0
HOME: Final = 9
SECOND: Final = 12  # the same of the second body
AXES: Final = 24  # of its forces, in the kernels' world; again for the second body, whose world may be another
POINT: Final = 33
AXES2: Final = 36
POINT2: Final = 45
MISSING: Final = 48  # acceleration, or velocity, that the contact lacks
CONTACT_NUMBERS: Final = 54
READ_MODEL: Final = 70  # as many float64 of an object are looked at
READ_DATA: Final = 80
