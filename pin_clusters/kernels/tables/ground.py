"""What steps on a ground and their kernel tell each other: numbers of calls, clock, float64 numbers, and the record."""

from typing import Any, Final, NamedTuple

from .plan import CALLS

# calls, behind those of ``plan``: of points, their positions alone, and all of it; 0: there are none
WHERE: Final = CALLS
WHOLE: Final = CALLS + 1
GROUND_CALLS: Final = CALLS + 2

# clock: in and out
STEP: Final = 0  # the present one
END: Final = 1
STEPS: Final = 2  # of the whole simulation
FIRST: Final = 3  # the step of the first row of samples
PHASE: Final = 4  # in: BEGIN, ...
NEAR: Final = 5  # out: how many points are in the system
STOPS: Final = 6  # out: how many stops and guarded shapes are near
PUTS: Final = 7  # how often points were put back in this step
MOST_PUTS: Final = 8  # in
RECORD: Final = 9  # in: every so many steps a sample is written
WIDTH: Final = 10  # in: of a sample
CLOCK: Final = 11  # how many these are

# phases: what the caller did since the last return
BEGIN: Final = 0  # nothing: a step begins
SOLVED: Final = 1  # the answer has the impulses of the system
SHIFTED: Final = 2  # the answer has by how much points are pushed out of the ground
GIVEN: Final = 3  # the configuration in the middle of the step is given
BEST: Final = 4  # as SOLVED, and no better impulses are asked for

# what the kernel returns
DONE: Final = 0  # END is reached
TOUCHING: Final = 1  # points close, or stops are near: the system of impulses is there
BELOW: Final = 2  # something is deeper than it may be in the middle of the step: the system of the shift is there
SINGULAR: Final = 3  # a cluster is beyond its limit of conditions
FAILED: Final = 4  # the step cannot be done, or its numbers are not finite
MISSED: Final = 5  # the answer misses the laws by more than it may

SUDDEN: Final = 100.0
"""[m/s^2]: a contact strikes if its free motion closes it faster than by this times the step; resting ones do not."""

# numbers
LENGTH: Final = 0  # of a step, and of the last one [s]
LAST: Final = 1
HEIGHT: Final = 2  # of the ground along its normal [m]
REACH: Final = 3  # points that are closer are near [m]
REACH_OF_STOPS: Final = 4  # [rad] or [m]
SLOP: Final = 5  # how much deeper a point, or a stop, may be
SLACK: Final = 6  # what opens faster, the gap counted, is left out of the system, and looked at afterwards [m/s]
LATE: Final = 7  # what closes faster then is taken into it [m/s]
FRICTION: Final = 8  # of the ground
MOST_MISSED: Final = 9  # [m/s], scaled: how far from its own projection onto the laws an answer may be
SCALE: Final = 10  # out: of the system: impulses are this times its unknowns
RELAXATION: Final = 11  # out: least ratio of what a contact weighs along a tangent and along the other
DISTANCE: Final = 12  # out: how far from its projection an answer is [m/s]
CONE: Final = 13  # out: laws of the step: impulse outside of its cone [N s], velocity into the ground [m/s],
DUAL: Final = 14
PRODUCT: Final = 15  # impulse times what of its velocity should be zero [J], work of the impulses [J]
WORK: Final = 16
DELAY: Final = 17  # how long after the middle of the step they act (5) [s]
REACH_OF_GUARDS: Final = 18  # [m]
AXES: Final = 19  # of the ground, by rows: two tangents and the normal
NUMBERS: Final = 28


class Robot(NamedTuple):
    """What moves and accelerates a robot."""

    work: Any  # workspace of aba
    calls: Any  # addresses of functions and of their tables
    plan: Any  # what moves how
    ratios: Any  # one per term of the plan; then the offsets of the followers
    terms: Any  # what acts by itself, with factors and rows: see ``tables.passive``
    factors: Any
    rows: Any
    coupling: Any  # where the coupling function leaves G and its bias
    energies: Any  # where the energy function leaves both energies, then the openness function by how much loops open
    conditions: Any  # where in work the squared bounds of the condition of each cluster with loops are
    limits: Any  # of these bounds


class State(NamedTuple):
    """Configurations of shape (nq,), velocities of shape (nv,), and room for both."""

    q: Any  # at the start of the step
    v: Any
    middle: Any  # configuration in its middle
    free: Any  # velocity at its end without impulses
    v_next: Any  # velocity at its end with impulses
    a: Any  # acceleration
    x: Any  # increment of a configuration
    other: Any  # room of the size of q
    spare: Any
    held: Any
    mapped: Any  # room of the size of v
    still: Any  # zeros, shape (nv,)


class Points(NamedTuple):
    """The n points that may touch, and two centres of each guarded shape; vectors are in axes of the world."""

    where: Any  # what is asked of points, and of centres behind them, for their positions alone
    where_numbers: Any
    places: Any  # positions of points, then of centres
    radii: Any  # of guarded shapes
    no_gram: Any  # results that are not asked for: empty
    no_response: Any
    no_velocities: Any
    where_panel: Any  # room
    whole: Any  # what is asked of points for all of it
    whole_numbers: Any
    panel: Any  # room
    gram: Any  # J M^-1 J', shape (3 n, 3 n)
    response: Any  # M^-1 J', shape (nv, 3 n)
    positions: Any  # shape (n, 3)
    velocities: Any  # J free, shape (3 n,)
    ends: Any  # J v_next
    gaps: Any  # shape (n,)
    last: Any  # impulses of the last step in axes of the ground, shape (3 n,)
    impulses: Any  # impulses of this step


class System(NamedTuple):
    """The velocities u = A l + g of the points that are in the system; impulses are the scale times l."""

    near: Any  # which points are in the system
    chosen: Any  # whether each point is
    A: Any  # by rows; the mean of its diagonal is 1
    g: Any
    guess: Any
    answer: Any
    B: Any  # room of the size of A
    tried: Any  # room of the size of g
    found: Any
    change: Any
    stay: Any  # room of the size of near


class Stops(NamedTuple):
    """Ends of the ranges of joints."""

    table: Any  # rows of index in q, side, and the velocity that moves the joint
    bounds: Any  # the room to a stop is side q - bound
    rates: Any  # the room changes by the rate times the velocity
    rooms: Any


class Run(NamedTuple):
    """What is done, and what is kept of it."""

    clock: Any  # whole numbers, see above
    numbers: Any  # float64 numbers, see above
    torque: Any  # one row, or one per step
    # of each step gaps, impulses, positions, laws; before them, of those to be recorded, a sample of its start, with
    # the mean acceleration
    samples: Any


class Step(NamedTuple):
    """All that the kernel of steps on a ground works on."""

    robot: Robot
    state: State
    points: Points
    system: System
    stops: Stops
    run: Run
