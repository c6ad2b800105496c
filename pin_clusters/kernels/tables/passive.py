"""Layout of a simulation's tables of passive elements: terms, factors of the terms, and blocks of lines and gears.

Spring, damper and friction act along a line, a sum of coordinates. A gear has a motor torque, a load and a loss.
"""

# A block contains LANES lines or gears and is padded with zeros. Each field has one number per line or gear (lane), so
# the compiler can vectorize loops over lanes, provided that the loop count, WIDTH, is a run-time value.
LANES = 8

# Row 0 of terms. LINES: number of blocks of lines; blocks of gears follow. LAGGED: 1 if gears use the loads of the last
# step, as with ground contact. STAGES: number of stages of the integration method. WIDTH: LANES.
LINES, LAGGED, STAGES, WIDTH = range(4)
# Row 1 of terms: end of each list of terms. LENGTHS: terms of q, for lengths of lines. TORQUES: terms of the user's
# torques, for motor torques. RATES: terms of independent velocities. TREE: terms of tree velocities, which require G.
LENGTHS, TORQUES, RATES, TREE = range(4)
# Row 2 of terms. LINKS: end of the list of links that carry gears, with two rows per link. CARRIED: end of the list of
# these gears. TURNS: offset of the links' factors.
LINKS, CARRIED, TURNS = range(3)
# Each row from FIRST on contains a term's block, lane, and index in the input array. Entry t of the factors belongs to
# the term in row t; entry 0 is a tolerance.
FIRST = 3
ROW, LANE, INDEX = range(3)
# A link has two rows: block, lane, index in q, kind; then block and lane of its carrier, axis of its velocity. The
# z axis of a link's frame is along its joint axis. FIXED: the link is on the universe, so no carrier rotates it. AXIS:
# a further axis of the same joint, without its own rotation. ANGLE, CIRCLE: q contains the angle, or its cosine and
# sine. The factors of a link are the rotation (9) from the previous link's frame at angle 0.
KIND = 3
FIXED, AXIS, ANGLE, CIRCLE = range(4)
# A gear's row: block and lane of the gear, then of its link. Its factors are the rotor axis (3) in the link's frame.
LINK_ROW, LINK_LANE = 2, 3

# Fields of lines and gears: rate; length of a line or torque of a motor (rate and length are 0 unless terms are being
# summed); force; speed; argument of tanh, later tanh itself; ends of the range without spring force; three stiffnesses;
# three dampings; friction; inverse of the speed over which friction changes its sign.
RATE, SUM, FORCE, SPIN, TURN, LOW, HIGH, K1, K2, K3, D1, D2, D3, FRICTION, SHARP = range(0, 15 * LANES, LANES)
# Fields of gears: rotor inertia; approximate decrease of the load per unit of loss; loss per load if the motor drives;
# loss per load if the joint drives; approximate speed change per unit torque in a step; least speed over which the loss
# changes its sign.
INERTIA, SHARE, FORWARD, BACKWARD, REACH, LEAST = range(15 * LANES, 21 * LANES, LANES)
# Fields of gears: motor torque minus friction; load; loss; error of the loss; estimated error after a Newton step.
# BEGUN: part of the load, at the start of the last step, that was not due to the motor torque. REST: this part for each
# stage; NaN if the stage was not evaluated. With LAGGED, the first entry of REST is the load of the last step.
TORQUE, LOAD, LOSS, MISS, DOUBT, BEGUN, REST = range(21 * LANES, 28 * LANES, LANES)
# Fields of links: angular velocity (3), angular acceleration (3), cosine and sine of the angle, x and y velocity
# product terms of the angular acceleration.
OMEGA, ALPHA = REST + 4 * LANES, REST + 7 * LANES
COSINE, SINE, TWIST = range(REST + 10 * LANES, REST + 13 * LANES, LANES)
BLOCK = REST + 14 * LANES
