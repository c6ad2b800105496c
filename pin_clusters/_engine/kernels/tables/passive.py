"""What acts by itself, as steps and their kernels know it: terms, springs, gears, and numbers beside them."""

# terms, row 0: how many springs, dampers and frictions along sums of coordinates there are (behind them, as rows too,
# come the gears); whether loads of gears are those of the last step, as on a ground; stages of the method
LINES, LAGGED, STAGES = range(3)
# row 1: where lists of terms end: of q, lengths of lines; of the user's torques, those of motors; of independent
# velocities, rates; of velocities of the tree, rates that need the coupling function
LENGTHS, TORQUES, RATES, TREE = range(4)
# from row FIRST on: a term's row, and index in what is given; as far behind the beginning of numbers is its coefficient
FIRST = 2
ROW, INDEX = range(2)
WIDTH = 4

# numbers: a tolerance, coefficients; then of all rows rates, forces, lengths or torques
RATE, FORCE, SUM, OF_ROWS = range(4)

# springs, a row per line: ends of its range of rest, three stiffnesses, three dampings, friction and the speed at which
# it turns its sign
LOW, HIGH, STIFFNESS, DAMPING, FRICTION, SPEED, OF_SPRINGS = 0, 1, 2, 5, 8, 9, 10

# gears, a row per gear: friction of its motor and the speed at which it turns its sign; inertia of the rotor; about how
# much less its load is per loss; loss per load where the motor drives, and where the joint does; about the speed that a
# torque takes away in a step, and the least one at which loss turns its sign
VISCOUS, COULOMB, STILL, INERTIA, SHARE, FORWARD, BACKWARD, REACH, LEAST = range(9)
# out: torque of the motor, less friction; load, loss, speed; what of the load did not follow from the torque at the
# beginning of the step before, and in each stage the last time it was there (NaN: it was not; lagged: the last load)
TORQUE, LOAD, LOSS, SPIN, BEGUN, REST = range(9, 15)
OF_GEARS = REST + 4
