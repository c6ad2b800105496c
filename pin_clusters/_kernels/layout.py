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

# index, body rows
PARENT: Final = 0
KIND: Final = 1
IQ: Final = 2  # first index in q
NDOF: Final = 3
AT_S: Final = 4  # work: motion subspace, 6 numbers per degree of freedom, in the world
AT_K: Final = 5  # work: K = dv_body/dv_cluster relative to the output body, 6 numbers per column
AT_G: Final = 6  # params: rows of G, one per degree of freedom
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
AT_SPIN: Final = 6  # params: spin momentum per unit velocity on the output body, 3 per column; -1 if there is none
AT_D: Final = 7  # params: NK x NK inertia of spin elements and armature; the number before it is the smallest D
CARRIER0: Final = 8  # rows of the carriers inside the cluster
CARRIER1: Final = 9
AT_WORK: Final = 10  # work of a GENERAL cluster: U (6 NK), Y (6 NK), D (NK NK), u (NK), spin in the world (3 NK each)

# index, rows of carriers inside a cluster
CARRIER: Final = 0
AT_CARRIED: Final = 1  # params: as AT_SPIN

# index, rows of spinning tree rotors
ROTOR_CARRIER: Final = 0
ROTOR_IQ: Final = 1
ROTOR_KIND: Final = 2
ROTOR_JOINT: Final = 3
ROTOR_AT: Final = 4  # params: rotation (9) and position (3) in the carrier, alignment (9), then the row of G
ROTOR_COLUMN: Final = 5  # first row of the list of indices in v
ROTOR_NK: Final = 6
ROTOR_ROW: Final = 21  # where the row of G begins behind ROTOR_AT

# types of clusters
SINGLE: Final = 0  # one joint of one degree of freedom, spin elements on its parent only
FREE: Final = 1  # a free flyer on the universe
GENERAL: Final = 2
HINGES: Final = 3  # GENERAL, of joints like SINGLE's, one per column; told apart where that is faster

# kinds of joints
REVOLUTE: Final = 0
CONTINUOUS: Final = 1  # q is (cos, sin)
PRISMATIC: Final = 2
HELICAL: Final = 3
SPHERICAL: Final = 4  # quaternion x y z w
PLANAR: Final = 5  # x y cos sin, velocity in the body's axes
FREEFLYER: Final = 6  # x y z, quaternion; velocity in the body's axes

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

# what a kernel returns, besides the row of a singular cluster
OK: Final = 0
WRONG_SIZE: Final = -1
