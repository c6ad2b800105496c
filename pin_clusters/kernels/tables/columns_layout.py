"""Tables of forces that are applied side by side: what one asks of ``columns``.

Rows of ``asked``: 0 the header, then the frames, then what is named below. ``numbers`` has 36 per frame: its placement,
then what the kernel finds. ``panel`` has six numbers of each body and column, force and later acceleration; then a row
per velocity, a number per column: torque, later of W, later acceleration, see ``columns``.
"""

from typing import Final, NamedTuple


class Asked(NamedTuple):
    """Row 0."""

    frame0: int  # rows of frames
    task1: int  # behind those whose columns are tasks
    frame1: int
    column0: int  # rows of columns
    columns: int  # how many there are
    tasks: int  # the first ones, those of frames, if products are wanted; else 0
    moves: int  # 1 if accelerations are wanted
    torque0: int  # between which columns the torques B stand
    torque1: int
    width: int  # columns of the panel: all of them
    reach0: int  # rows of ``Reach``, of all clusters in turn


class Touch(NamedTuple):
    """Row of a frame at which forces act, one unit force or moment per column."""

    body: int  # a spinning rotor's carrier
    rotor: int  # row of a spinning rotor of the tree, 0 for bodies
    at: int  # numbers: rotation and position in the body's frame, or the rotor's; position of the kernels' world in the
    # universe, unless all hangs from a free flyer
    reference: int  # as Pinocchio numbers them
    root: int  # the body on the universe from which it hangs
    column0: int  # rows of its columns, each an ``Entry``
    column1: int
    path0: int  # rows of the velocities that move it
    path1: int


class Column(NamedTuple):
    """Row of a column."""

    touch: int  # row of its frame; -1 for torques
    axis: int  # 0..2 a force, 3..5 a moment


class Reach(NamedTuple):
    """Row of a cluster: between which columns those are whose forces or torques reach it.

    Nothing else moves it inward, and nothing is done there.
    """

    first: int
    last: int


# numbers of a frame
AXES: Final = 12  # of its forces, in the kernels' world
POINT: Final = 21  # where they act
TURN: Final = 24  # axis and centre of a rotor
CENTRE: Final = 27
HOME: Final = 30  # given: position of the kernels' world in the universe, unless all hangs from a free flyer
OFFSET: Final = 33  # given, of ``points`` alone: from there to the point, along the axes of the universe
