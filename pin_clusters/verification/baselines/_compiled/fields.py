"""Where what stands in ``I``: sizes, and the first places of tables in ``I`` (lower half) and ``W`` (upper half)."""

from ....kernels.tables import layout

# sizes
(
    BODIES,  # the universe included
    TREE_V,  # velocities of the expanded tree
    NV,
    ROWS,  # couplings, loops and rotors, then rods with mass, then borrowed inertia
    HARD,  # of them those without compliance
    PARTS,
    CLOSURES,
    LINES,  # of all joints: forces that they transmit
    BAND,  # of the banded matrix of a chain, its diagonal included
    WRONG,  # part, body or row that could not be solved
) = range(10)

# tables of whole numbers
(
    PARENT,
    PRIM,  # first primitive of a joint; one more at the end, as in all lists of first places
    DOF,  # first velocity of a joint
    VARIES,  # whether the motions of a joint change in its own frame
    COUNT,  # forces that a joint transmits
    ARM,  # first of its armatures
    ARM_DOF,
    USER,  # joint of the user's tree, or -1
    FREE,  # velocity of the tree that an independent one is
    KIND,  # of a primitive
    PRIM_Q,  # its first coordinate, -1 for a rotor at angle 0
    PRIM_V,  # its first velocity
    LENDS,  # whether a parent lends inertia to a body
    # rows that tie velocities, in parts without a velocity in common
    PART_ROW,
    PART_ROWS,
    PART_DEP,
    PART_DEPS,
    PART_FREE,
    PART_FREES,  # their places in v
    PART_MOVES,  # whether its rows change with the pose
    PART_G,  # where its coupling matrix is in W
    PART_A,  # where its elimination is
    COLUMN,  # of a velocity in its part: dependent ones first
    PIVOTS,  # rows that the elimination chose, part by part as PART_DEPS
    # closures, one entry each
    C_TYPE,
    C_A,
    C_B,
    C_ROW,
    C_SIZE,
    C_REAL,  # its constants in W
    C_MORE,  # its constants in I
    # rows
    ENTRY,  # first entry of a row: bodies on which it acts
    ENTRY_BODY,
    TERM,  # first term of a row of joints
    TERM_DOF,
    TOP,  # of a row of bodies the one above which these move as one; -1 of a row of joints
    ROD_CLOSURE,  # of a rod with mass
    FAKES,  # number of bodies that have borrowed inertia
    KEEP,  # rows of the dense system in order; then the place of each row in it, or -1; then their number
    # what solvers know in advance of the pattern
    NEAR,  # first neighbour of a joint that is eliminated later
    NEARS,
    FILL,  # first block that the elimination of a joint changes
    FILLS,
    NODE,  # first row that is felt at a body, then at a joint
    NODE_ROW,
    GOES,  # first place to which what is felt there goes
    GOES_TO,
    LINE,  # first line of a joint in the banded matrix
    DOF_BODY,
    SAME,  # a velocity itself
    # the mass matrix in generalized coordinates
    G_ROW,  # first velocity of the tree that an independent one moves
    G_DOF,
    G_AT,  # where its entry of G is in W
    UP,  # first independent velocity that a row of M shares, itself the last
    UPS,
    PAIR,  # first of triples: velocity of the tree, entry of its mass matrix, entry of G
    PAIRS,
    ROD_DOF,  # first velocity of the tree that moves a rod
    ROD_DOFS,
    LINK,  # first joint on a body, its own before those of its children
    LINKS,
    ENTRY_NODE,  # where an entry of a row is felt, -1 at the universe
) = range(10, 72)

# in W: constants
(
    AT_PRIM,  # placement, axis and pitch of a primitive
    AT_TLOC,
    AT_NLOC,  # what measures the motions of a joint, and what it transmits, in the body's frame
    AT_RIGID,  # inertia of a body about the origin of its frame: mass, first moment, xx xy xz yy yz zz
    AT_LUMP,  # the same after lending
    AT_SHARE,  # what its parent lends: mass, transverse inertia, axis
    AT_ARM,  # 1 / armature
    AT_GRAVITY,
    AT_SCALE,
    AT_COMPLIANCE,
    AT_TERM,  # coefficients of rows of joints
) = range(72, 83)
# in W: room
(
    AT_R, AT_O, AT_S, AT_T, AT_J, AT_P, AT_D,  # pose; motions; rows of forces, at the child, at its parent; bias
    AT_V, AT_BETA, AT_A,  # velocity, acceleration of the joint at rest, acceleration
    AT_BODY, AT_M, AT_B,  # inertia in axes of the world; after lending, 6 x 6; load
    AT_VT, AT_AT,  # velocities and accelerations of the tree
    AT_ENTRY, AT_RIGHT, AT_SCALED, AT_MU, AT_SYSTEM,  # of rows: wrenches, right sides, scales, multipliers; system
    AT_LAMBDA, AT_E,  # of joints: forces in their rows, wrenches
    AT_HALF_J, AT_HALF_P, AT_PIVOT, AT_BLOCK, AT_BANDED,  # factors
    AT_Y, AT_Z,  # rows, carried inward
    AT_MASSES, AT_MG, AT_MY,  # mass matrix of the tree, torques of the tree, mass matrix
    AT_ROOM,
) = range(83, 116)  # fmt: skip
SIZE = 116

REVOLUTE, CONTINUOUS, PRISMATIC, HELICAL = layout.REVOLUTE, layout.CONTINUOUS, layout.PRISMATIC, layout.HELICAL
SPHERICAL, PLANAR, FREEFLYER = layout.SPHERICAL, layout.PLANAR, layout.FREEFLYER
FRAMES, ROD, JOINTS, HARMONIC = range(4)
NONE, WHOLE, UNIVERSAL = range(3)
LOOPS, BODY, SYSTEM, MASSES = range(1, 5)  # what cannot be solved: see ``WRONG``
