"""Data that a simulation with a ground and its compiled kernel exchange: calls, clock, float64 numbers and arrays.

Impulses are [N s], velocities [m/s], lengths [m], times [s]. n is the number of points that can touch the ground.
"""

from typing import Any, Final, NamedTuple

from .plan import CALLS

# Calls after the calls of ``plan``: addresses of the functions for points, their positions alone or all results; 0
# without points.
WHERE: Final = CALLS
WHOLE: Final = CALLS + 1
GROUND_CALLS: Final = CALLS + 2

# clock: int64, input and output
STEP: Final = 0  # number of the present step
END: Final = 1  # the kernel returns before this step
STEPS: Final = 2  # number of steps of the simulation
FIRST: Final = 3  # the step of the first row of samples
PHASE: Final = 4  # input: BEGIN, ...
NEAR: Final = 5  # output: number of points in the system
STOPS: Final = 6  # output: number of joint stops and guarded shapes within reach
PUTS: Final = 7  # number of times that the points were moved out of the ground in this step
MOST_PUTS: Final = 8  # input: largest number of such moves
RECORD: Final = 9  # input: the kernel writes a sample every RECORD steps
WIDTH: Final = 10  # input: size of a sample
CLOCK: Final = 11  # size of the clock

# phases: what the caller has done since the last return
BEGIN: Final = 0  # nothing: a step begins
SOLVED: Final = 1  # the answer contains the impulses of the system
SHIFTED: Final = 2  # the answer contains the displacements that move the points out of the ground
GIVEN: Final = 3  # the configuration in the middle of the step is given
BEST: Final = 4  # as SOLVED, and the kernel must accept the impulses

# return codes
DONE: Final = 0  # END is reached
TOUCHING: Final = 1  # points or stops are within reach: the caller must solve the system of impulses
BELOW: Final = 2  # a point is deeper than SLOP in the middle of the step: the caller must solve for the shift
SINGULAR: Final = 3  # the condition of a cluster exceeds its limit
FAILED: Final = 4  # the step is impossible, or its results are not finite
MISSED: Final = 5  # the answer violates the contact laws by more than MOST_MISSED

SUDDEN: Final = 100.0
"""Acceleration [m/s^2]: a contact is an impact if it closes freely at more than this value times the step length."""

# numbers: float64
LENGTH: Final = 0  # length of a step [s]
LAST: Final = 1  # length of the last step [s]
HEIGHT: Final = 2  # height of the ground along its normal [m]
REACH: Final = 3  # points closer than this are within reach [m]
REACH_OF_STOPS: Final = 4  # the same for joint stops [rad] or [m]
SLOP: Final = 5  # permitted penetration of a point [m] or of a stop
SLACK: Final = 6  # points that open faster, gap included, are left out of the system and checked afterwards [m/s]
LATE: Final = 7  # a point that closes faster in that check joins the system [m/s]
FRICTION: Final = 8  # coefficient of friction of the ground
MOST_MISSED: Final = 9  # permitted scaled distance of an answer from its projection onto the contact laws [m/s]
SCALE: Final = 10  # output: the impulses of the system are its unknowns times this factor
RELAXATION: Final = 11  # output: smallest ratio of the inverse masses of a contact along its two tangents
DISTANCE: Final = 12  # output: distance of an answer from its projection [m/s]
CONE: Final = 13  # output, errors of the contact laws in a step: impulse outside of the friction cone [N s],
DUAL: Final = 14  # velocity into the ground [m/s],
PRODUCT: Final = 15  # product of impulse and velocity that complementarity makes zero [J],
WORK: Final = 16  # work of the impulses [J]
DELAY: Final = 17  # output: time from the middle of the step to the impulses [s], equation (5) of docs/ground.md
REACH_OF_GUARDS: Final = 18  # REACH for guarded shapes [m]
AXES: Final = 19  # 9: axes of the ground by rows: two tangents and the normal
NUMBERS: Final = 28


class Robot(NamedTuple):
    """Tables and functions that move and accelerate a robot."""

    work: Any  # workspace of aba
    calls: Any  # addresses of functions and of their tables
    plan: Any  # how each coordinate moves, see ``plan``
    ratios: Any  # one per term of the plan, then the offsets of the followers
    terms: Any  # passive elements, with factors and rows: see ``tables.passive``
    factors: Any
    rows: Any
    coupling: Any  # output of the coupling function: G and its bias
    energies: Any  # output of the energy function (2), then of the openness function: residuals of the loops
    conditions: Any  # offsets in work of the squared bounds of the condition of each cluster with loops
    limits: Any  # limits of these squared bounds


class State(NamedTuple):
    """Configurations of shape (nq,), velocities of shape (nv,), and workspace for both."""

    q: Any  # at the start of the step
    v: Any
    middle: Any  # configuration in the middle of the step
    free: Any  # velocity at the end of the step without impulses
    v_next: Any  # velocity at the end of the step with impulses
    a: Any  # mean acceleration
    x: Any  # increment of a configuration
    other: Any  # workspace, shape (nq,)
    spare: Any
    held: Any
    mapped: Any  # workspace, shape (nv,)
    still: Any  # zeros, shape (nv,)


class Points(NamedTuple):
    """The n points that can touch, and two centres of each guarded shape; vectors are in world axes."""

    where: Any  # request for the positions alone: points, then centres
    where_numbers: Any
    places: Any  # positions of points, then of centres
    radii: Any  # radii of guarded shapes
    no_gram: Any  # empty results for quantities that are not requested
    no_response: Any
    no_velocities: Any
    where_panel: Any  # workspace
    whole: Any  # request for all results of the points
    whole_numbers: Any
    panel: Any  # workspace
    gram: Any  # J M^-1 J^T, shape (3 n, 3 n)
    response: Any  # M^-1 J^T, shape (nv, 3 n)
    positions: Any  # shape (n, 3)
    velocities: Any  # J free, shape (3 n,)
    ends: Any  # J v_next, shape (3 n,)
    gaps: Any  # shape (n,)
    last: Any  # impulses of the last step in axes of the ground, shape (3 n,)
    impulses: Any  # impulses of this step, shape (3 n,)


class System(NamedTuple):
    """Velocities u = A l + g of the m points in the system, where l is the impulses divided by SCALE."""

    near: Any  # numbers of the points in the system
    chosen: Any  # 1 for each point in the system, shape (n,)
    A: Any  # shape (3 m, 3 m) by rows; the mean of its diagonal is 1
    g: Any  # shape (3 m,)
    guess: Any  # first guess of l
    answer: Any  # l
    B: Any  # workspace of the size of A
    tried: Any  # workspace of the size of g, as the next two
    found: Any
    change: Any
    stay: Any  # workspace of the size of near


class Stops(NamedTuple):
    """Joint limits."""

    table: Any  # rows: index in q, side (1 or -1), index of the velocity that moves the joint
    bounds: Any  # the distance to a stop is side * q - bound
    rates: Any  # the distance changes at this rate times the velocity
    stop_gaps: Any  # distances


class Run(NamedTuple):
    """Inputs and records of a run."""

    clock: Any  # int64, see above
    numbers: Any  # float64, see above
    torque: Any  # one row, or one row per step
    # Per step: gaps, impulses, positions, errors of the laws. A recorded step starts with a sample of its initial state
    # and mean acceleration.
    samples: Any


class Step(NamedTuple):
    """All arrays that the kernel of steps on a ground uses."""

    robot: Robot
    state: State
    points: Points
    system: System
    stops: Stops
    run: Run
