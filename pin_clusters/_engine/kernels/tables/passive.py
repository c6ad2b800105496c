"""What acts by itself, as steps and their kernels know it: terms, springs, gears, and numbers beside them."""

from typing import Final

# terms, row 0
LINES: Final = 0  # springs, dampers and friction along sums of coordinates; behind them, as rows too, the gears
GEARS: Final = 1  # with losses, and the friction of their motors
LAGGED: Final = 2  # whether loads of gears are those of the last step, as on a ground
STAGES: Final = 3  # of the method
# row 1: where lists of terms end, the first from row FIRST on; a term is a row, an index in what is given, and, as far
# behind the beginning of numbers, what it is multiplied with
LENGTHS: Final = 0  # of q: lengths of lines
TORQUES: Final = 1  # of the user's torques: those of motors
RATES: Final = 2  # of independent velocities
TREE: Final = 3  # of those of the tree: these rates need the coupling function
FIRST: Final = 2
ROW: Final = 0
INDEX: Final = 1
WIDTH: Final = 4

# numbers: a tolerance, one per term from FIRST on; then of all rows rates, forces, lengths or torques
RATE: Final = 0
FORCE: Final = 1
SUM: Final = 2
OF_ROWS: Final = 3  # how many these are

# springs: a row per line
LOW: Final = 0  # ends of its range of rest
HIGH: Final = 1
STIFFNESS: Final = 2  # three each
DAMPING: Final = 5
FRICTION: Final = 8
SPEED: Final = 9  # at which friction turns its sign

# gears: a row per gear
VISCOUS: Final = 0  # friction of its motor, and the speed at which it turns its sign
COULOMB: Final = 1
STILL: Final = 2
INERTIA: Final = 3  # of the rotor
SHARE: Final = 4  # about how much less its load is per loss
FORWARD: Final = 5  # loss per load where the motor drives, and where the joint does
BACKWARD: Final = 6
REACH: Final = 7  # speed that a torque takes away in a step, about
LEAST: Final = 8  # at which loss turns its sign
TORQUE: Final = 9  # out: of the motor, less friction
LOAD: Final = 10
LOSS: Final = 11
RIGHT: Final = 12  # the loss under a guess of the load, and by how much it changes with that
SLOPE: Final = 13
GUESS: Final = 14
SPIN: Final = 15
BEGUN: Final = 16  # what of the load did not follow from the motor's torque, at the beginning of the step before
REST: Final = 17  # the same in each stage, the last time it was there; NaN if it was not (lagged: the last load)
MOST_STAGES: Final = 4
OF_GEARS: Final = REST + MOST_STAGES
