"""Layout of the array ``I``: sizes, and the offsets of tables in ``I`` (first group) and in ``W`` (second group)."""

from ....kernels.tables import layout

# Sizes.
(
    BODIES,  # number of bodies, the universe included
    TREE_V,  # number of velocities of the expanded tree
    NV,  # number of independent velocities
    ROWS,  # number of rows: couplings, loops and rotors, then rods with mass, then fictitious inertia
    HARD,  # number of rows without compliance
    PARTS,  # number of parts, groups of rows with common velocities
    CLOSURES,  # number of closures
    LINES,  # number of forces that all joints transmit
    BAND,  # bandwidth of the banded matrix of a chain, its diagonal included
    WRONG,  # index of the part, body or row that could not be solved
) = range(10)

# Tables of integers. A list table contains the offset of each list, and one more offset at the end.
(
    PARENT,  # parent of each body
    PRIM,  # list per body: primitives of its joint
    DOF,  # list per body: velocities of its joint
    VARIES,  # whether the motion subspace of a joint changes in its own frame
    COUNT,  # number of forces that a joint transmits
    ARM,  # list per body: armatures of its joint
    ARM_DOF,  # velocity of each armature
    USER,  # joint of the user's tree, or -1
    FREE,  # tree velocity of each independent velocity
    KIND,  # kind of each primitive
    PRIM_Q,  # its first coordinate, -1 for a rotor at angle 0
    PRIM_V,  # its first velocity
    LENDS,  # whether a parent lends inertia to a body
    # Parts: rows with common velocities.
    PART_ROW,  # list per part: rows
    PART_ROWS,
    PART_DEP,  # list per part: dependent velocities
    PART_DEPS,
    PART_FREE,  # list per part: independent velocities
    PART_FREES,  # their indices in v
    PART_MOVES,  # whether its rows change with the pose
    PART_G,  # offset of its coupling matrix in W
    PART_A,  # offset of its elimination in W
    COLUMN,  # column of a velocity in its part, dependent velocities first
    PIVOTS,  # pivot rows of the elimination, part by part as PART_DEPS
    # Closures, one entry each.
    C_TYPE,
    C_A,  # first body
    C_B,  # second body
    C_ROW,  # first row
    C_SIZE,  # number of rows
    C_REAL,  # offset of its constants in W
    C_MORE,  # offset of its constants in I
    # Rows.
    ENTRY,  # list per row: entries, one per body on which it acts
    ENTRY_BODY,
    TERM,  # list per row of joints: terms
    TERM_DOF,
    TOP,  # nearest common ancestor of the bodies of a row; -1 for a row of joints
    ROD_CLOSURE,  # closure of each rod with mass
    FAKES,  # number of bodies with fictitious inertia
    KEEP,  # rows of the dense system in order; then the index of each row in it, or -1; then their number
    # Sparsity patterns.
    NEAR,  # list per joint: adjacent joints that are eliminated later
    NEARS,
    FILL,  # list per joint: blocks that its elimination changes
    FILLS,
    NODE,  # list per body, then per joint: rows that act there
    NODE_ROW,
    GOES,  # list per entry of NODE_ROW: entries to which the elimination carries it
    GOES_TO,
    LINE,  # first line of a joint in the banded matrix
    DOF_BODY,  # body of each velocity
    SAME,  # identity: each velocity itself
    # The mass matrix in generalized coordinates.
    G_ROW,  # list per independent velocity: tree velocities that it moves
    G_DOF,
    G_AT,  # offset of the entry of G in W
    UP,  # list per row of M: non-zero columns up to the diagonal
    UPS,
    PAIR,  # list per column of M: triples of tree velocity, entry of the tree's mass matrix, entry of G
    PAIRS,
    ROD_DOF,  # list per rod: tree velocities that move it
    ROD_DOFS,
    LINK,  # list per body: joints on it, first its own joint, then its children's joints
    LINKS,
    ENTRY_NODE,  # entry of NODE_ROW of each row entry, -1 at the universe
) = range(10, 72)

# Offsets of constants in W.
(
    AT_PRIM,  # placement, axis and pitch of a primitive
    AT_TLOC,  # dual basis of a joint's motions, in the body frame
    AT_NLOC,  # directions of the forces that a joint transmits, in the body frame
    AT_RIGID,  # inertia of a body about the origin of its frame: mass, first moment, xx xy xz yy yz zz
    AT_LUMP,  # inertia after lending, same layout
    AT_SHARE,  # inertia lent by the parent: mass, transverse inertia, axis
    AT_ARM,  # 1 / armature
    AT_GRAVITY,
    AT_SCALE,  # scale of each row
    AT_COMPLIANCE,  # compliance of each row
    AT_TERM,  # coefficients of rows of joints
) = range(72, 83)
# Offsets of work space in W.
(
    AT_R, AT_O, AT_S, AT_T, AT_J, AT_P, AT_D,  # pose; motions and their dual; force rows at child and parent; bias
    AT_V, AT_BETA, AT_A,  # velocity; acceleration at zero joint acceleration; acceleration
    AT_BODY, AT_M, AT_B,  # inertia in world axes; 6 x 6 inertia after lending; load
    AT_VT, AT_AT,  # velocities and accelerations of the tree
    AT_ENTRY, AT_RIGHT, AT_SCALED, AT_MU, AT_SYSTEM,  # rows: wrenches, right sides, scales, multipliers; dense system
    AT_LAMBDA, AT_E,  # joints: forces in their rows, wrenches
    AT_HALF_J, AT_HALF_P, AT_PIVOT, AT_BLOCK, AT_BANDED,  # factors
    AT_Y, AT_Z,  # wrenches of rows, carried inward
    AT_MASSES, AT_MG, AT_MY,  # mass matrix of the tree; torques of the tree; mass matrix
    AT_SCRATCH,  # temporary work space
) = range(83, 116)  # fmt: skip
SIZE = 116

REVOLUTE, CONTINUOUS, PRISMATIC, HELICAL = layout.REVOLUTE, layout.CONTINUOUS, layout.PRISMATIC, layout.HELICAL
SPHERICAL, PLANAR, FREEFLYER = layout.SPHERICAL, layout.PLANAR, layout.FREEFLYER
FRAMES, ROD, JOINTS, HARMONIC = range(4)
NONE, WHOLE, UNIVERSAL = range(3)
LOOPS, BODY, SYSTEM, MASSES = range(1, 5)  # error codes: unsolvable part, body, row or mass matrix, see ``WRONG``
