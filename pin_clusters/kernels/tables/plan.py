"""Layout of the arrays that a simulation and its compiled kernel exchange: plan, addresses to call, and counters."""

from typing import Final

# Row 0 of plan: number of rows of each kind.
MOVED: Final = 0  # independent joints; each row: kind, first index in q, first index in v
FOLLOWERS: Final = 1  # dependent joints with constant ratios; each row: index in q, first and last term
TERMS: Final = 2  # terms of the followers; each row: index in q of a joint that drives the follower
# Row 1 of plan.
CLOSED: Final = 0  # 1 if there are loops, else 0
ENTRIES: Final = 1  # number of entries of q that belong to joints of loops
LEFT: Final = 2  # number of entries of q that belong to independent joints
# The following rows are joints, followers and terms. The last rows contain one index each: entries of q in loops,
# independent entries of q, and indices in v of the joints on which the torques act.

# Calls: addresses of compiled functions, such as ABA, and of their tables, such as ABA_AT.
ABA: Final = 0
MOVE: Final = 1
ENERGY: Final = 2
COUPLING: Final = 3
MOVE_AT: Final = 4
ENERGY_AT: Final = 5
COUPLING_AT: Final = 6
OWN: Final = 7  # 1 if the torques act on the model's independent joints
ASK: Final = 8  # address of the function that calls the user's torque function; 0 if the torques are in a table
ASK_AT: Final = 9
OPENNESS: Final = 10  # address of the function that writes the loop residuals after aba; 0 if there are no loops
OPENNESS_AT: Final = 11
ABA_AT: Final = 12
CALLS: Final = 13  # number of entries in ``calls``

# The clock contains int64 inputs and outputs.
STEP: Final = 0  # number of the next step
END: Final = 1  # the kernel returns before step END
STEPS: Final = 2  # number of steps of the simulation
RECORD: Final = 3  # the kernel writes a sample every RECORD steps
CORRECTED: Final = 4  # 1 if the method integrates rates of the increment instead of velocities
SAMPLES: Final = 5  # output: number of samples
DUE: Final = 6  # 1 if the first state must still be recorded as a sample
STOPPED: Final = 7  # output: 1 if a step failed, 2 if the condition number of a cluster exceeds its limit
ANSWERS: Final = 8  # output: number of calls of the user's torque function in the failed step
