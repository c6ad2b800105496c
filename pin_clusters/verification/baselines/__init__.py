"""Efficient implementations of dynamics without cluster algorithms; the tests also use them as references.

===================  ===================================================================  ===========  =====
module               method                                                               result       loops
===================  ===================================================================  ===========  =====
``projection``       Pinocchio on the tree with every rotor as a body, projected          exact        yes
``hybrid``           ``projection`` with some prescribed accelerations                    exact        yes
``contacts``         ``projection`` with contacts                                         exact        yes
``lagrange``         tree of ``projection``, all constraints as Lagrange multipliers      exact        yes
``constrained``      ``pin.constraintDynamics`` or ``pin.lcaba``, if they apply           exact        only
``unconstrained``    tree of ``projection``, only equations of independent joints         approximate  yes
``block``            tree without rotors, plus the reflected inertia as a matrix          approximate  no
``armature_model``   ``pin.Model`` without rotors, with or without armature               approximate  no
``armature``         operational inertia of ``armature_model``                            approximate  no
``sparse``           operational inertia by sparse Cholesky, constraints as multipliers   exact        yes
``unit_forces``      inverse input matrix by one forward dynamics per input (eUFM)        exact        yes
``yamane_nakamura``  principle of virtual work, with the forces of all joints             exact        yes
``baraff``           multipliers in maximal coordinates, banded or sparse                 exact        yes
``unit_vectors``     mass matrix by inverse dynamics of unit accelerations                exact        yes
``sparse_crba``      mass matrix by composite inertias, factorised without fill-in        exact        yes
===================  ===================================================================  ===========  =====

The last four baselines are compiled like the kernels, so that computing times are comparable. The only code that they
share with the kernels handles vectors of length 3 and 6. Every module has its own ``createData(model)``. Vectors have
the same order as in the public functions of the package.
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
