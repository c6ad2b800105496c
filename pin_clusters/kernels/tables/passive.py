"""What acts by itself, as steps and their kernels know it: terms, their factors, and blocks of lines and of gears."""

# a block has LANES lines or gears, zeros where there is none, and of each field a number per lane: loops over lanes
# become vector instructions, if their count is not known before (it stands in terms)
LANES = 8

# terms, row 0: blocks of springs, dampers and frictions along sums of coordinates (behind them come those of gears);
# whether loads of gears are those of the last step, as on a ground; stages of the method; LANES
LINES, LAGGED, STAGES, WIDTH = range(4)
# row 1: where lists of terms end: of q, lengths of lines; of the user's torques, those of motors; of independent
# velocities, rates; of velocities of the tree, rates that need the coupling function
LENGTHS, TORQUES, RATES, TREE = range(4)
# row 2: where the lists of links that carry gears, two rows each, and of these gears end; where factors of links begin
LINKS, CARRIED, TURNS = range(3)
# from row FIRST on: a term's block and lane, and its index in what is given; its factor is as far in factors, of which
# the first is a tolerance
FIRST = 3
ROW, LANE, INDEX = range(3)
# of a link: lane, index in q, kind; then lane of the one that carries it, and the axis of its velocity. One that
# hangs on the universe does not turn what is given, nor does the next axis of the same joint; others turn by an angle,
# or a cosine and a sine. Its frame has the axis z. Factors: rotation from the frame of the link before, at angle 0
KIND = 3
FIXED, AXIS, ANGLE, CIRCLE = range(4)
# of a gear: lane, and that of its link; factors: the rotor's axis there
LINK_ROW, LINK_LANE = 2, 3

# fields: rate, length of a line or torque of a motor (both are 0 but where they are gathered), force, speed, what tanh
# takes and gives; ends of the range of rest, three stiffnesses, three dampings, friction, one over the speed at which
# it turns its sign
RATE, SUM, FORCE, SPIN, TURN, LOW, HIGH, K1, K2, K3, D1, D2, D3, FRICTION, SHARP = range(0, 15 * LANES, LANES)
# of gears: inertia of the rotor; about how much less its load is per loss; loss per load where the motor drives, and
# where the joint does; about the speed that a torque takes away in a step, and the least one at which loss turns its
# sign
INERTIA, SHARE, FORWARD, BACKWARD, REACH, LEAST = range(15 * LANES, 21 * LANES, LANES)
# torque of the motor, less friction; load, loss, by how much it missed that of the load, and may miss it since; what of
# the load did not follow from the torque at the beginning of the step before, and in each stage the last time it was
# there (NaN: it was not; lagged: the first is the last load)
TORQUE, LOAD, LOSS, MISS, DOUBT, BEGUN, REST = range(21 * LANES, 28 * LANES, LANES)
# of links: angular velocity, angular acceleration, cosine and sine of the angle, what velocities accelerate (x and y)
OMEGA, ALPHA = REST + 4 * LANES, REST + 7 * LANES
COSINE, SINE, TWIST = range(REST + 10 * LANES, REST + 13 * LANES, LANES)
BLOCK = REST + 14 * LANES
