"""Layout of the tables of contacts: rows of the request table ``asked``, and the numbers of each contact.

Row 0 of ``asked`` is the header. Row 1 contains the offsets of the fields of Pinocchio's objects, in float64 from the
address of an object. The contacts, their columns and the velocities that move them follow. ``panel`` is laid out as in
``columns_layout``, with tau - h in the column after the contact columns. ``gram`` has one row and one column per
contact equation; one more row contains the forces, one more column the right side.
"""

from typing import Final, NamedTuple


class Contacts(NamedTuple):
    """Row 0."""

    contact0: int  # rows of Contact
    contact1: int
    columns: int  # number of contact equations
    width: int  # columns of the panel: ``columns`` + 1
    wanted: int  # DYNAMICS, IMPACT or DELASSUS
    reach0: int  # rows of ``columns_layout.Reach``
    step: int  # WHOLE, SYSTEM or GIVEN


class Fields(NamedTuple):
    """Row 1: offsets in ``pin.RigidConstraintModel``, then in its data."""

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
    at: int  # offset of its numbers
    model: int  # address of its pin.RigidConstraintModel
    data: int  # address of its pin.RigidConstraintData
    force: int  # address of the force in its data
    rows: int  # 3 or 6
    aligned: int  # 1 if its equations are in world axes, 0 if in axes of the contact
    column0: int  # rows of its columns
    column1: int
    path0: int  # rows of the velocities that move it
    path1: int
    same: int  # 1 if body1 has the same root as body1 of the previous contact


DYNAMICS: Final = 0
IMPACT: Final = 1
DELASSUS: Final = 2
WHOLE: Final = 0
SYSTEM: Final = 1  # stop when gram contains the upper half of the matrix of (O6) and its right side
GIVEN: Final = 2  # the forces are given
REDUNDANT: Final = -2
"""Return code if the contact equations are linearly dependent, in addition to the codes of aba."""

ROUNDING: Final = 1e3 * 2.0**-52
"""A constraint equation consists of rounding errors if its entries are a smaller fraction of its lever arms.

If equations are given without lever arms, the larger of 1 m and the largest entry replaces the lever arm.
"""
CONTRADICTION: Final = -3
UNUSUAL: Final = -4
"""Additional return codes of ``contact_forces``, which describes them."""

# Settings of ``contact_forces``. The first four are the fields of a pin.ProximalSettings, the last three are int64.
ABSOLUTE: Final = 0  # accuracies at which an iteration ends
RELATIVE: Final = 1
MU: Final = 2  # damping mu of (O6)
MOST_ITERATIONS: Final = 3  # in the lower half of the word
KIND: Final = 4  # DIRECT, ITERATED or WHEN_REDUNDANT
TOLD: Final = 5  # 1 if the user has been warned that the contacts contradict each other
SETTINGS: Final = 6
DIRECT: Final = 0  # minimum-norm forces if the equations are redundant, or damping by a number
ITERATED: Final = 1  # Pinocchio's proximal iteration
WHEN_REDUNDANT: Final = 2  # ITERATED only if the equations are redundant

# The first numbers: common to all contacts.
RESTITUTION: Final = 0
DAMPING: Final = 1
ACCURACY: Final = 2  # an equation is redundant if elimination leaves less than this fraction of its diagonal entry
WORLD: Final = 3  # 12: rotation and position of the world (see ``layout``) of the last body1
FIRST: Final = 15  # the numbers of the contacts begin here
# Numbers of a contact. Given for each body: rotation from the body's frame to the joint's (9), and the position of the
# world in the universe unless all bodies are below a free flyer (3). The kernel writes the remaining numbers.
TO_JOINT: Final = 0
HOME: Final = 9
SECOND: Final = 12  # TO_JOINT and HOME of the second body
AXES: Final = 24  # 9: axes of its forces in the world
POINT: Final = 33  # 3: contact point in the world
AXES2: Final = 36  # the same for the second body, whose world may differ
POINT2: Final = 45
MISSING: Final = 48  # 6: right side of its equations: missing acceleration or velocity
CONTACT_NUMBERS: Final = 54
READ_MODEL: Final = 70  # float64 words that are read of a model
READ_DATA: Final = 80  # float64 words that are read of a data
