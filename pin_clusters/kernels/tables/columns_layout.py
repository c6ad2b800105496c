"""Layout of the tables of the kernel ``columns``, which computes the effects of many forces or torques, one per column.

Row 0 of the request table ``asked`` is the header; rows of the classes below follow. ``numbers`` has 36 entries per
frame: the placement of the frame, then results of the kernel. The first part of ``panel`` has shape (bodies, 6, width)
and contains the bodies' forces, later their accelerations. The second part has shape (nv, width) and contains torques,
later W (O3), later accelerations (O5).
"""

from typing import Final, NamedTuple


class Asked(NamedTuple):
    """Header row."""

    frame0: int  # rows of Touch are frame0..frame1-1
    task1: int  # the frames in rows frame0..task1-1 have task columns
    frame1: int
    column0: int  # first row of Column
    columns: int  # number of columns
    tasks: int  # number of task columns, which precede all other columns; 0 unless products (O4) are requested
    moves: int  # 1 if accelerations are requested, else 0
    torque0: int  # the torques B are columns torque0..torque1-1
    torque1: int
    width: int  # number of columns of the panel
    reach0: int  # first row of Reach; there is one row per cluster


class Touch(NamedTuple):
    """Row of a frame at which forces act, one unit force or moment per column."""

    body: int  # body index, or the carrier of a lumped rotor
    rotor: int  # row of a lumped rotor; 0 for a body
    at: int  # offset in ``numbers``: rotation (9), position (3) relative to the body or rotor, then the entries below
    reference: int  # reference frame, numbered as in Pinocchio
    root: int  # the child of the universe among the ancestors of the body
    column0: int  # rows of Entry with the indices of its columns: column0..column1-1
    column1: int
    path0: int  # rows of Entry with the velocities that move its body: path0..path1-1
    path1: int


class Column(NamedTuple):
    """Row of a column of the panel."""

    touch: int  # row of Touch; -1 if the column is a torque
    axis: int  # 0..2: force, 3..5: moment


class Reach(NamedTuple):
    """Row of a cluster: the range of columns whose forces or torques affect the cluster; other columns are skipped."""

    first: int
    last: int


# Offsets of a frame's ``numbers``, after its placement. The world is the common frame that ``layout`` defines.
AXES: Final = 12  # size 9: axes of the frame's forces in the world
POINT: Final = 21  # size 3: point of application in the world
TURN: Final = 24  # size 3: axis of a rotor
CENTRE: Final = 27  # size 3: centre of a rotor
HOME: Final = 30  # size 3, input: origin of the world in the universe; not used below a free flyer
OFFSET: Final = 33  # size 3, input of ``points``: vector from the frame to the point, in axes of the universe
