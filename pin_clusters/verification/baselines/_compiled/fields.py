"""Layout of the array ``I``: sizes, offsets of tables in ``I``, and offsets of constants and work space in ``W``."""

from ....kernels.tables import layout

(
    BODIES,  # number of bodies, including the universe
    TREE_V,  # number of velocities of the expanded tree
    NV,  # number of independent velocities
    ROWS,  # number of rows, in this order: closures, couplings, rotors, rods with mass, fictitious inertia
    HARD,  # number of rows without compliance
    PARTS,  # number of parts (groups of rows that share velocities)
    CLOSURES,  # number of loop closures
    LINES,  # number of force components that all joints transmit
    BAND,  # bandwidth of the banded matrix of a chain, including the diagonal
    WRONG,  # index of the part, body or row that could not be solved
) = range(10)

# Integer tables. A table of lists contains the offset of each list, and the end of the last list.
(
    PARENT,  # parent of each body
    PRIM,  # list per body: primitive joints of its joint
    DOF,  # list per body: velocities of its joint
    VARIES,  # whether the motion subspace of a joint varies in the body frame
    COUNT,  # number of force components that a joint transmits
    ARM,  # list per body: armatures of its joint
    ARM_DOF,  # velocity of each armature
    USER,  # joint of each body in the user's tree, or -1
    FREE,  # tree velocity of each independent velocity
    KIND,  # kind of each primitive
    PRIM_Q,  # first coordinate of each primitive, -1 for a rotor at angle 0
    PRIM_V,  # first velocity of each primitive
    LENDS,  # whether the parent of each body lends inertia to the body
    # Parts: groups of rows that share velocities.
    PART_ROW,  # list per part: constraint rows
    PART_ROWS,
    PART_DEP,  # list per part: dependent velocities
    PART_DEPS,
    PART_FREE,  # list per part: independent velocities
    PART_FREES,  # indices of these velocities in v
    PART_MOVES,  # whether the rows of each part change with the pose
    PART_G,  # offset in W of the coupling matrix of each part
    PART_A,  # offset in W of the eliminated rows of each part
    COLUMN,  # column of each velocity in its part; dependent velocities come first
    PIVOTS,  # pivot rows of the elimination, in the order of PART_DEPS
    # Loop closures, one entry per closure.
    C_TYPE,
    C_A,  # first body
    C_B,  # second body
    C_ROW,  # first row
    C_SIZE,  # number of rows
    C_REAL,  # offset of constants in W
    C_MORE,  # offset of constants in I
    # Rows of the constraint Jacobian. They act on bodies or on joint velocities.
    ENTRY,  # list per row: entries, one per body on which the row acts
    ENTRY_BODY,
    TERM,  # list per row that acts on joint velocities: its terms
    TERM_DOF,
    TOP,  # nearest common ancestor of the bodies of each row; -1 if the row acts on joint velocities
    ROD_CLOSURE,  # index of the closure of each rod with mass
    FAKES,  # number of bodies with fictitious inertia
    KEEP,  # list of rows in the dense system; index of each row in this system, or -1; size of the system
    # Sparsity patterns.
    NEAR,  # list per joint: adjacent joints that are eliminated later
    NEARS,
    FILL,  # list per joint: blocks that the joint's elimination changes
    FILLS,
    NODE,  # list per body, then per joint: rows that act on it
    NODE_ROW,
    GOES,  # list per entry of NODE_ROW: entries to which the elimination propagates this entry
    GOES_TO,
    LINE,  # index of each joint's first row in the banded matrix
    DOF_BODY,  # for each tree velocity, the body that its joint moves
    SAME,  # identity table, which maps each velocity to itself
    # The mass matrix in generalized coordinates.
    G_ROW,  # list per independent velocity: tree velocities that depend on it
    G_DOF,
    G_AT,  # offset in W of each entry of G
    UP,  # list per row of M: non-zero columns up to the diagonal
    UPS,
    PAIR,  # list per column of M: triples (tree velocity, entry of the tree's mass matrix, entry of G)
    PAIRS,
    ROD_DOF,  # list per rod: tree velocities that move the rod
    ROD_DOFS,
    LINK,  # list per body: the body's joint, then the joints of its children
    LINKS,
    ENTRY_NODE,  # for each row entry, its index in NODE_ROW; -1 for entries of the universe
) = range(10, 72)

# Offsets of constants in W.
(
    AT_PRIM,  # placement, axis and pitch of each primitive joint
    AT_TLOC,  # dual basis of a joint's motions, in the body frame
    AT_NLOC,  # directions of the forces that a joint transmits, in the body frame
    AT_RIGID,  # inertia of a body about the origin of its frame: mass, first moment, xx xy xz yy yz zz
    AT_LUMP,  # inertia after lending (see ``_shares``), in the layout of AT_RIGID
    AT_SHARE,  # inertia that the parent lends: mass, transverse inertia, joint axis
    AT_ARM,  # 1 / armature
    AT_GRAVITY,
    AT_SCALE,  # scale of each row
    AT_COMPLIANCE,  # compliance of each row
    AT_TERM,  # coefficients of rows that act on joint velocities
) = range(72, 83)
# Offsets of work space in W.
(
    AT_R, AT_O, AT_S, AT_T, AT_J, AT_P, AT_D,  # pose; joint motions, dual basis; force directions; bias
    AT_V, AT_BETA, AT_A,  # velocity; acceleration at zero joint acceleration; acceleration
    AT_BODY, AT_M, AT_B,  # inertia in world axes; 6 x 6 inertia after lending; load
    AT_VT, AT_AT,  # velocities and accelerations of the tree
    AT_ENTRY, AT_RIGHT, AT_SCALED, AT_MU, AT_SYSTEM,  # row wrenches, right-hand sides, scales, multipliers; system
    AT_LAMBDA, AT_E,  # forces that joints transmit: components, wrenches
    AT_HALF_J, AT_HALF_P, AT_PIVOT, AT_BLOCK, AT_BANDED,  # Cholesky factors and products with them
    AT_Y, AT_Z,  # row wrenches, propagated from the tips to the base
    AT_MASSES, AT_MG, AT_MY,  # mass matrix of the tree; torques of the tree; mass matrix
    AT_SCRATCH,  # temporary work space
) = range(83, 116)  # fmt: skip
SIZE = 116

REVOLUTE, CONTINUOUS, PRISMATIC, HELICAL = layout.REVOLUTE, layout.CONTINUOUS, layout.PRISMATIC, layout.HELICAL
SPHERICAL, PLANAR, FREEFLYER = layout.SPHERICAL, layout.PLANAR, layout.FREEFLYER
FRAMES, ROD, JOINTS, HARMONIC = range(4)
NONE, WHOLE, UNIVERSAL = range(3)
LOOPS, BODY, SYSTEM, MASSES = range(1, 5)  # error codes; ``WRONG`` contains the index of the faulty part, body or row
