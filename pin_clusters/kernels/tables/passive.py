"""Layout of the tables of passive elements in a simulation: terms, their factors, and blocks of lines and of gears.

A line is a sum of coordinates with a spring, a damper and friction. A gear has a motor torque, a load and a loss.
"""

# A block contains LANES lines or gears, padded with zeros. Each field has one number per lane, so that loops over lanes
# become vector instructions. The compiler vectorizes them only if the count is a run-time value: WIDTH in terms.
LANES = 8

# terms, row 0: number of blocks of lines (blocks of gears follow); 1 if gears use their loads of the last step, as with
# a ground; number of stages of the method; LANES
LINES, LAGGED, STAGES, WIDTH = range(4)
# terms, row 1: ends of the lists of terms: of q, for lengths of lines; of the user's torques, for motor torques; of
# independent velocities, for rates; of velocities of the tree, for rates that need the coupling function
LENGTHS, TORQUES, RATES, TREE = range(4)
# terms, row 2: ends of the lists of links that carry gears, two rows each, and of the gears that they carry; offset of
# the factors of the links
LINKS, CARRIED, TURNS = range(3)
# Rows from FIRST on: block and lane of a term, and its index in its input. Factors are in the same order; the first
# factor is a tolerance.
FIRST = 3
ROW, LANE, INDEX = range(3)
# Row of a link: lane, index in q, kind; the next row: lane of the link that carries it, axis of its velocity. The frame
# of a link has the z axis along the axis of its joint. Kind FIXED: on the universe, so that no carrier turns it. AXIS:
# a further axis of the same joint, without rotation of its own. ANGLE, CIRCLE: rotates by an angle, or a cosine and a
# sine. Factors: rotation (9) from the frame of the previous link at angle 0.
KIND = 3
FIXED, AXIS, ANGLE, CIRCLE = range(4)
# Row of a gear: its lane, and the lane of its link. Factors: axis of the rotor (3) in the frame of the link.
LINK_ROW, LINK_LANE = 2, 3

# Fields: rate; length of a line or torque of a motor (rate and length are 0 except while terms are summed); force;
# speed; argument, then value of tanh; ends of the range without spring force; three stiffnesses; three dampings;
# friction; inverse of the speed over which friction changes its sign
RATE, SUM, FORCE, SPIN, TURN, LOW, HIGH, K1, K2, K3, D1, D2, D3, FRICTION, SHARP = range(0, 15 * LANES, LANES)
# Fields of gears: inertia of the rotor; approximate decrease of the load per loss; loss per load if the motor drives,
# and if the joint drives; approximate speed that a unit torque removes in a step; smallest speed over which the loss
# changes its sign
INERTIA, SHARE, FORWARD, BACKWARD, REACH, LEAST = range(15 * LANES, 21 * LANES, LANES)
# Motor torque less friction; load; loss; error of the loss, and its permitted change since; the part of the load that
# did not follow from the torque at the beginning of the last step, and the same for each stage (NaN: the stage was not
# evaluated; with LAGGED the first is the last load)
TORQUE, LOAD, LOSS, MISS, DOUBT, BEGUN, REST = range(21 * LANES, 28 * LANES, LANES)
# Fields of links: angular velocity (3), angular acceleration (3), cosine and sine of the angle, velocity product terms
# of the angular acceleration (x and y)
OMEGA, ALPHA = REST + 4 * LANES, REST + 7 * LANES
COSINE, SINE, TWIST = range(REST + 10 * LANES, REST + 13 * LANES, LANES)
BLOCK = REST + 14 * LANES
