"""What a simulation and its kernel tell each other: numbers of plan, calls and clock."""

from typing import Final

# plan, row 0
MOVED: Final = 0  # rows of independent joints: kind, first index in q, first index in v
FOLLOWERS: Final = 1  # rows of dependent joints with constant ratios: index in q, first and last term
TERMS: Final = 2  # rows: index in q of a leader
# plan, row 1
CLOSED: Final = 0  # whether there are loops
ENTRIES: Final = 1  # in q, of the joints of loops
LEFT: Final = 2  # in q, of the independent joints of the model
# rows: joints, followers, terms, then an index each: entries of loops, independent entries, the torques' joints in v

# calls: addresses of compiled functions, and of the tables that they get
ABA: Final = 0
MOVE: Final = 1
ENERGY: Final = 2
COUPLING: Final = 3
MOVE_AT: Final = 4
ENERGY_AT: Final = 5
COUPLING_AT: Final = 6
OWN: Final = 7  # whether the torques are of the independent joints
ASK: Final = 8  # of what asks the user's function for torques, and what it gets; 0: they are in a table
ASK_AT: Final = 9
OPENNESS: Final = 10  # of what writes by how much loops are open, after aba; 0: there are none
OPENNESS_AT: Final = 11
ABA_AT: Final = 12
CALLS: Final = 13  # how many these are

# clock: in and out
STEP: Final = 0  # the next step
END: Final = 1
STEPS: Final = 2  # of the whole simulation
RECORD: Final = 3
CORRECTED: Final = 4  # whether rates of the increment, not velocities, are added up
SAMPLES: Final = 5  # out
DUE: Final = 6  # whether the first state may be a sample
STOPPED: Final = 7  # out: 1 if a step could not be done, 2 if a cluster is beyond its limit; the caller looks closer
ANSWERS: Final = 8  # out: how often the user's function gave torques in the step that could not be done
