"""Baselines: dynamics without cluster algorithms, implemented as well as Python allows; also references for the tests.

===================  ===================================================================  ===========  =====
module               method                                                               result       loops
===================  ===================================================================  ===========  =====
``projection``       Pinocchio on the tree with every rotor as a body, projected          exact        yes
``hybrid``           ``projection`` with some prescribed accelerations, in four steps     exact        yes
``contacts``         ``projection`` with contacts, in one system of equations             exact        yes
``lagrange``         the same tree with all constraints as Lagrange multipliers           exact        yes
``constrained``      ``pin.constraintDynamics`` or ``pin.lcaba``, where they apply        exact        only
``unconstrained``    the same tree, only the rows of independent joints                   approximate  yes
``block``            tree without rotors, and their reflected inertia as a matrix         approximate  no
``armature_model``   a ``pin.Model`` without rotors, with armature (or without)           approximate  no
``armature``         operational inertia of that model: its inverse, or contact Cholesky  approximate  no
``sparse``           operational inertia by the tree's factorisation with constraints     exact        yes
``unit_forces``      inverse input matrix by one forward dynamics per input (eUFM)        exact        yes
``yamane_nakamura``  virtual work, joint by joint, with the forces of all joints          exact        yes
``baraff``           maximal coordinates and multipliers, banded or sparse                exact        yes
``unit_vectors``     mass matrix by inverse dynamics of unit accelerations                exact        yes
``sparse_crba``      mass matrix by composite inertias, factor without fill-in            exact        yes
===================  ===================================================================  ===========  =====

The last four are compiled like the kernels, so that times are comparable; they share only 3- and 6-vector operations
with the kernels. Every module has its own ``createData(model)``. Vectors are in the public order, as in the rest of the
package.
"""

from ...approximations.armature import armature_model as armature_model
from . import armature as armature
from . import baraff as baraff
from . import block as block
from . import constrained as constrained
from . import contacts as contacts
from . import hybrid as hybrid
from . import lagrange as lagrange
from . import projection as projection
from . import sparse as sparse
from . import sparse_crba as sparse_crba
from . import unconstrained as unconstrained
from . import unit_forces as unit_forces
from . import unit_vectors as unit_vectors
from . import yamane_nakamura as yamane_nakamura
