"""Data that a simulation with ground contact and its compiled kernel exchange: addresses, counters, numbers, arrays.

Impulses are in [N s], velocities in [m/s], lengths in [m], times in [s]. n is the number of points that can touch the
ground.
"""

from typing import Any, Final, NamedTuple

from .plan import CALLS

# Calls in addition to those of ``plan``: addresses of the functions for points, or 0 if there are no points. WHERE
# computes only the positions of the points; WHOLE computes all results.
WHERE: Final = CALLS
WHOLE: Final = CALLS + 1
GROUND_CALLS: Final = CALLS + 2

# The clock contains int64 inputs and outputs.
STEP: Final = 0  # number of the present step
END: Final = 1  # the kernel returns before step END
STEPS: Final = 2  # number of steps of the simulation
FIRST: Final = 3  # the step to which the first row of samples belongs
PHASE: Final = 4  # input: the last action of the caller, see the phases below
NEAR: Final = 5  # output: number of active points, whose impulses are unknowns of the system
STOPS: Final = 6  # output: number of joint stops and guarded shapes within reach
PUTS: Final = 7  # number of shifts in this step; a shift moves points out of the ground
MOST_PUTS: Final = 8  # input: largest allowed number of shifts per step
RECORD: Final = 9  # input: the kernel writes a sample every RECORD steps
WIDTH: Final = 10  # input: size of a sample
CLOCK: Final = 11  # number of entries of the clock

# Phases: the action of the caller since the kernel's last return.
BEGIN: Final = 0  # no action: a step begins
SOLVED: Final = 1  # the answer contains the impulses of the system
SHIFTED: Final = 2  # the answer contains the displacements that move the points out of the ground
GIVEN: Final = 3  # the configuration in the middle of the step is an input
BEST: Final = 4  # like SOLVED, but the kernel accepts the impulses even if they violate the contact laws

# Return codes of the kernel.
DONE: Final = 0  # the kernel has reached END
TOUCHING: Final = 1  # points or stops are within reach; the caller must solve the system for the impulses
BELOW: Final = 2  # a point is deeper than SLOP in the middle of the step; the caller must compute displacements
SINGULAR: Final = 3  # the condition number of a cluster exceeds its limit
FAILED: Final = 4  # the step is impossible, or its results are not finite
MISSED: Final = 5  # the answer violates the contact laws by more than MOST_MISSED

SUDDEN: Final = 100.0
"""A contact is an impact if its free closing speed exceeds max(gap, 0) / h + h times this acceleration [m/s^2]."""

# Offsets in the float64 numbers.
LENGTH: Final = 0  # length of a step [s]
LAST: Final = 1  # length of the last step [s]
HEIGHT: Final = 2  # height of the ground along its normal [m]
REACH: Final = 3  # distance to the ground below which points are within reach [m]
REACH_OF_STOPS: Final = 4  # distance to a joint stop below which the stop is within reach [rad] or [m]
SLOP: Final = 5  # allowed penetration of a point [m] or of a stop [rad] or [m]
SLACK: Final = 6  # points whose opening speed + gap / step exceeds this value are omitted and checked later [m/s]
LATE: Final = 7  # closing speed above which the late check adds a point to the system [m/s]
FRICTION: Final = 8  # coefficient of friction of the ground
MOST_MISSED: Final = 9  # largest allowed DISTANCE [m/s]
SCALE: Final = 10  # output: factor that converts the unknowns of the system to impulses
RELAXATION: Final = 11  # output: smallest ratio of the tangential inverse masses at a point, see ``relaxation_of``
DISTANCE: Final = 12  # output: scaled distance of an answer from its projection onto the friction cone [m/s]
CONE: Final = 13  # output: largest excess of a tangential impulse over the friction limit [N s]
DUAL: Final = 14  # output: largest velocity into the ground [m/s]
PRODUCT: Final = 15  # output: largest product of impulse and velocity; 0 if complementarity holds [J]
WORK: Final = 16  # output: work of the impulses [J]
DELAY: Final = 17  # output: time from the middle of the step to the impulses [s], equation (5) of docs/ground.md
REACH_OF_GUARDS: Final = 18  # REACH for guarded shapes [m]
AXES: Final = 19  # size 9: axes of the ground by rows, two tangents and the normal
NUMBERS: Final = 28


class Robot(NamedTuple):
    """Addresses and data of the functions that compute a robot's motion and acceleration."""

    work: Any  # workspace of aba
    calls: Any  # addresses of functions and of their tables
    plan: Any  # data to move the coordinates, see ``tables.plan``
    ratios: Any  # one ratio per term of the plan, then the offsets of the followers
    terms: Any  # tables of passive elements, like the next two arrays, see ``tables.passive``
    factors: Any
    rows: Any
    coupling: Any  # output of the coupling function: G and its bias
    energies: Any  # two outputs of the energy function, then the loop residuals that the openness function writes
    conditions: Any  # offset in work of each LOOP cluster's squared condition bound
    limits: Any  # largest allowed values of these bounds


class State(NamedTuple):
    """Configurations of shape (nq,), velocities of shape (nv,), and workspaces of both shapes."""

    q: Any  # configuration at the start of the step
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
    """The n points that can touch the ground, and two centres per shape that Python handles; all in world axes."""

    where: Any  # request table for the positions only: points, then centres
    where_numbers: Any
    places: Any  # positions of points, then of centres
    radii: Any  # radii of guarded shapes
    no_gram: Any  # empty arrays for results that are not requested
    no_response: Any
    no_velocities: Any
    where_panel: Any  # workspace
    whole: Any  # request table for all results of the points
    whole_numbers: Any
    panel: Any  # workspace
    gram: Any  # J M^-1 J^T, shape (3 n, 3 n)
    response: Any  # M^-1 J^T, shape (nv, 3 n)
    positions: Any  # shape (n, 3)
    velocities: Any  # J times the free velocity, shape (3 n,)
    ends: Any  # J times v_next, shape (3 n,)
    gaps: Any  # distances to the ground, shape (n,)
    last: Any  # impulses of the last step in axes of the ground, shape (3 n,)
    impulses: Any  # impulses of this step, shape (3 n,)


class System(NamedTuple):
    """Velocities u = A l + g of the m active points; l contains their impulses divided by SCALE."""

    near: Any  # indices of the active points
    chosen: Any  # 1 for each active point, else 0; shape (n,)
    A: Any  # shape (3 m, 3 m), row-major; the mean of its diagonal is 1
    g: Any  # velocities without impulses, shape (3 m,)
    guess: Any  # first guess of l
    answer: Any  # the solution l
    B: Any  # workspace of the size of A
    tried: Any  # workspace of the size of g, like the next two arrays
    found: Any
    change: Any
    stay: Any  # workspace of the size of near


class Stops(NamedTuple):
    """Joint stops, which limit joint coordinates."""

    table: Any  # rows: index in q, side (1 or -1), index of the velocity that moves the joint
    bounds: Any  # bounds; the distance to a stop is side * q - bound
    rates: Any  # rate of change of the distance per unit velocity
    stop_gaps: Any  # distances to the stops


class Run(NamedTuple):
    """Inputs of a simulation, and its recorded samples."""

    clock: Any  # int64 numbers STEP to WIDTH, see above
    numbers: Any  # float64 numbers LENGTH to AXES, see above
    torque: Any  # torques: one row, or one row per step
    # The row of a step contains a sample of its initial state and mean acceleration (if the step is recorded), then
    # gaps, impulses, positions, and errors of the contact laws.
    samples: Any


class Step(NamedTuple):
    """All arrays used by the kernel that performs steps with ground contact."""

    robot: Robot
    state: State
    points: Points
    system: System
    stops: Stops
    run: Run
