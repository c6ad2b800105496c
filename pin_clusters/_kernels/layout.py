"""Where things are in the three tables of a model: ``index`` (whole numbers), ``params`` and ``work`` (floats).

``index`` has one row per item: row 0 the header (and the universe), rows 1..NB the bodies, then the clusters, then
lists. ``params`` and ``work`` are flat; body ``b`` owns the ``BODY_PARAMS`` numbers from ``b * BODY_PARAMS`` on, and
the ``BODY_WORK`` numbers from ``b * BODY_WORK`` on; what has no fixed size stands behind them, at offsets kept in
``index``.

A body's frame is turned so that the axis of a joint of one degree of freedom is its z axis. Quantities in ``work``
have one orientation and origin, those of the universe or, below a free flyer on it, those of the free flyer: its pose
then enters through gravity alone.
"""

from __future__ import annotations

from typing import Final

ROW_WIDTH: Final = 16  # a power of two: every read of the index multiplies by it

# index, row 0: header
NB: Final = 0  # bodies are rows 1..NB
CLUSTER0: Final = 1  # clusters are rows CLUSTER0..CLUSTER1-1, parents first
CLUSTER1: Final = 2
NQ: Final = 3
NV: Final = 4
SPIN0: Final = 5  # spin elements that are bodies of the tree (only external forces need them)
SPIN1: Final = 6
NJOINTS: Final = 7
NVT: Final = 8  # velocities of the tree

# index, body rows
PARENT: Final = 0
KIND: Final = 1
IQ: Final = 2  # first index in q
NDOF: Final = 3
AT_S: Final = 4  # work: motion subspace, 6 numbers per degree of freedom, in the world
AT_K: Final = 5  # work: K = dv_body/dv_cluster relative to the output body, 6 numbers per column
AT_G: Final = 6  # work: rows of G, one per degree of freedom; then their bias g, then their velocities G v (LOOP only)
BEARS: Final = 7  # 1 if another body hangs from this one
JOINT: Final = 8  # joint of the tree whose body this is, -1 for an intermediate body of a joint
CLUSTER: Final = 9  # row of its cluster
ROOT: Final = 10  # the body on the universe from which it hangs
UNIT: Final = 11  # one degree of freedom that is an independent one: its index in v; else -1
MASK: Final = 12  # bit k is set if column k of the cluster moves this body
SHUFFLE: Final = 13  # its ROTATION is 1: the identity, 2: (y z x), 3: (z x y), 0: anything else
WHICH: Final = 15  # the column of its cluster that UNIT is
SOLE: Final = 14  # UNIT if its cluster is SINGLE or HINGES, else -1

# index, cluster rows
TYPE: Final = 0
FIRST: Final = 1  # bodies FIRST..LAST-1
LAST: Final = 2
NK: Final = 3  # independent velocities
COLUMN: Final = 4  # SINGLE and FREE: first index in v. GENERAL: first row of the list of indices in v
OUT: Final = 5  # output body
AT_SPIN: Final = 6  # spin momentum per unit velocity on the output body, 3 per column; -1 if there is none
AT_D: Final = 7  # NK x NK inertia of spin elements and armature
# both are in params for SINGLE and FREE, in work for the others
CARRIER0: Final = 8  # rows of the carriers inside the cluster
CARRIER1: Final = 9
AT_WORK: Final = 10  # work of a GENERAL cluster: U (6 NK), Y (6 NK), D (NK NK), u (NK), spin in the world (3 NK each)
SMALLEST: Final = 12  # params: the smallest D; of SINGLE and FREE it stands before AT_D as well
LOOP: Final = 11  # of a LOOP cluster: its row of closures

# index, row of closures of a LOOP cluster; the columns of its equations are the dependent velocities, then the others
ND: Final = 0  # dependent velocities
NR: Final = 1  # rows; more than ND if the independent ones are chosen per state
AT_LOOP: Final = 2  # work: see _kernels.loops
CLOSURE0: Final = 3
CLOSURE1: Final = 4
DOF0: Final = 5  # rows of all velocities: the dependent ones in order, then the others
DOF1: Final = 6
FOLLOWER0: Final = 7  # rows of joints that follow others at a constant ratio
FOLLOWER1: Final = 8
ELEMENT0: Final = 9  # rows of armature and spin elements
ELEMENT1: Final = 10
ROD0: Final = 11  # rows of rods with mass
ROD1: Final = 12

# index, rows of velocities
DOF_G: Final = 0  # work: its row of G
DOF_BIAS: Final = 1  # work
DOF_RATE: Final = 2  # work
DOF_BODY: Final = 3  # its body, -1 for a rotor that spins
DOF_IV: Final = 4  # index in the tree's v
DOF_COLUMN: Final = 5  # which independent velocity of the cluster it is, else -1
DOF_IQ: Final = 6  # first index in q of its joint
DOF_NQ: Final = 7

# index, rows of closures
FORM: Final = 0
ROW0: Final = 1  # its first row among the cluster's
ROWS: Final = 2
AT_DATA: Final = 3  # params
PART0: Final = 4  # bodies: rows of the velocities on its path. Joints: rows of its joints
PART1: Final = 5
BODY_A: Final = 6
BODY_B: Final = 7
TURN: Final = 8  # FRAMES: how the rotation is measured
TERM0: Final = 9  # HARMONIC: rows of terms
TERM1: Final = 10
ANGLES: Final = 11  # HARMONIC: number of angles
AT_ROOM: Final = 12  # work: HARMONIC: sin, cos and value of each angle, then a gradient; SUPPLIED: Jacobian, Hessian
ADDRESS: Final = 13  # CALLED: of phi, and of its Jacobian (or 0)
SLOPE: Final = 14

# index, rows of velocities on a path
ON_COLUMN: Final = 0
ON_S: Final = 1  # work: its motion subspace
ON_SIGN: Final = 2  # 1 if it moves b, -1 if it moves a

# index, rows of the joints of a closure
OF_COLUMN: Final = 0
OF_IQ: Final = 1
OF_DOF: Final = 2  # row of its velocity
OF_NQ: Final = 3

# index, rows of harmonic terms: row, where the coefficient is in params, then three factors and their angles
TERM_ROW: Final = 0
TERM_AT: Final = 1
TERM_FACTOR: Final = 2

# index, rows of followers
FOLLOWS: Final = 0  # row of its velocity
MASTER0: Final = 1  # rows: row of the velocity, where the coefficient is in params
MASTER1: Final = 2

# index, rows of armature and spin elements
ELEMENT_AT: Final = 0  # params: inertia, axis on the carrier
DRIVER0: Final = 1  # rows, as MASTER0's
DRIVER1: Final = 2
ELEMENT_SPIN: Final = 3  # work: spin momenta of its carrier, -1 for armature and rotors on the universe
ELEMENT_ROW: Final = 4  # work: its speed per unit velocity

# index, rows of rods with mass
ROD_AT: Final = 0  # params: points in a and b (3 each), two thirds of the mass
ROD_A: Final = 1
ROD_B: Final = 2
ROD_MIDDLE: Final = 3  # the body that stands for two thirds of its mass

# index, rows of carriers inside a cluster
CARRIER: Final = 0
AT_CARRIED: Final = 1  # work: as AT_SPIN

# index, rows of spinning tree rotors
ROTOR_CARRIER: Final = 0
ROTOR_IQ: Final = 1
ROTOR_KIND: Final = 2
ROTOR_JOINT: Final = 3
ROTOR_AT: Final = 4  # params: rotation (9) and position (3) in the carrier, alignment (9)
ROTOR_COLUMN: Final = 5  # first row of the list of indices in v
ROTOR_NK: Final = 6
ROTOR_ROW: Final = 7  # work: its row of G

# types of clusters
SINGLE: Final = 0  # one joint of one degree of freedom, spin elements on its parent only
FREE: Final = 1  # a free flyer on the universe
GENERAL: Final = 2
HINGES: Final = 3  # GENERAL, of joints like SINGLE's, one per column; told apart where that is faster
IMPLICIT: Final = 4  # GENERAL, with closures: G depends on q

# forms of closures
FRAMES: Final = 0
ROD: Final = 1
HARMONIC: Final = 2
PROPORTIONAL: Final = 3
CALLED: Final = 4  # compiled by the user
SUPPLIED: Final = 5  # a Python function: its derivatives are written to work before the kernel runs

# how the rotation between two frames is measured
TURN_NONE: Final = 0
TURN_FULL: Final = 1
TURN_AXIS: Final = 2
TURN_UNIVERSAL: Final = 3

# factors of harmonic terms
SIN: Final = 0
COS: Final = 1
IDENTITY: Final = 2
ONE: Final = 3

# kinds of joints
REVOLUTE: Final = 0
CONTINUOUS: Final = 1  # q is (cos, sin)
PRISMATIC: Final = 2
HELICAL: Final = 3
SPHERICAL: Final = 4  # quaternion x y z w
PLANAR: Final = 5  # x y cos sin, velocity in the body's axes
FREEFLYER: Final = 6  # x y z, quaternion; velocity in the body's axes
MIDDLE: Final = 7  # no joint: stands for the mass in the middle of a rod

# params of a body
ROTATION: Final = 0
POSITION: Final = 9
MASS: Final = 12
LEVER: Final = 13  # centre of mass
INERTIA: Final = 16  # about the centre of mass
PITCH: Final = 22
ALIGN: Final = 23  # rotation from this frame to the joint frame of the tree
BODY_PARAMS: Final = 32
# params, in the universe's place
MINUS_GRAVITY: Final = 0
ORIGIN: Final = 3  # of the kernels' world, in the universe
POTENTIAL: Final = 6  # energy of what is fixed to the universe: spinning rotors of the tree

# work of a body
W_R: Final = 0
W_P: Final = 9
W_S: Final = 12
W_V: Final = 18
W_A: Final = 24
W_F: Final = 30
W_I: Final = 36
W_H: Final = 57  # spin momentum per unit velocity, on the parent (SINGLE)
W_B: Final = 60
W_U: Final = 61
W_Q: Final = 67
BODY_WORK: Final = 68

# what a kernel returns, besides the row of a cluster whose D is singular, or minus the row of one whose K_d is
OK: Final = 0
WRONG_SIZE: Final = -1
