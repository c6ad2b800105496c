"""What steps on a ground and their kernel tell each other: numbers of calls, clock and what is given in float64."""

from typing import Final

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
REACH_OF_GUARDS: Final = 17  # [m]
AXES: Final = 18  # of the ground, by rows: two tangents and the normal
NUMBERS: Final = 27
