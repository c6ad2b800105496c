"""Jacobians of contacts, from the placements and Jacobians of joints in ``pin.Data``."""

from ...compiler.numba_jit.jit import inline, paste
from ..directions import Out
from ..force_columns.panel import entry
from ..numbers.memory import get
from ..numbers.spatial import matmul3, rot, rot6_t, rot_t, transposed, zero6
from ..numbers.tuples import load3, load6, load9
from ..tables import contacts_layout as at
from ..tables.addresses import seen
from ..tables.views import contact, contacts_header, dof, field, fields, link, own_at, place_at, tree_header_at
from ..tree.frame_jacobians import add_column
from ..tree.independent_columns import clear_rows
from ..tree.link_motions import carried
from .where import placed


@inline
def side_in_world(joints, j, model, k):
    R = transposed(load9(joints, 12 * j))
    return matmul3(R, transposed(load9(model, k))), load3(joints, 12 * j + 9) + rot(R, load3(model, k + 9))


@paste
def contact_jacobian(index, params, work, out, asked, joints, scratch: Out, rows: Out):
    """Write all contact Jacobians to ``rows`` (contact equations x nv), and the contact placements to Pinocchio's data.

    ``joints`` contains the ids of the two joints of each contact; scratch is a workspace, 6 x nv. Return 0, or 1 if G
    is invalid because the last pose was singular.
    """
    n = tree_header_at(index, 0)
    O = own_at(index, n.sections + 1)
    A, F = contacts_header(asked, 0), fields(asked, 1)
    poses = seen(field(index, n.field1).address, 12 * n.njoints)
    J = seen(field(index, n.field1 + 1).address, 6 * n.nv_tree)
    for c in range(A.contact0, A.contact1):
        K = contact(asked, c)
        model, data, i = seen(K.model, at.READ_MODEL), seen(K.data, at.READ_DATA), 2 * (c - A.contact0)
        R1, x1 = side_in_world(poses, joints[i], model, F.placement1)
        R2, x2 = side_in_world(poses, joints[i + 1], model, F.placement2)
        placed(data, F.oMc1, R1, x1)
        placed(data, F.oMc2, R2, x2)
        placed(data, F.c1Mc2, matmul3(transposed(R1), R2), rot_t(R1, x2 - x1))
        clear_rows(scratch, n)
        if n.loops == 1:
            # A NaN in G must reach all rows, as in a matrix product.
            for iv in range(n.nv_tree):
                add_column(index, out, scratch, dof(index, n.dof0 + iv), O.kept, zero6())
        for side in range(2):
            x, sign = x1, 1.0 - 2.0 * side
            if side == 1 and K.rows == 3:
                x = x2
            b = place_at(index, n.place0 + joints[i + side]).link
            while b > 0:
                L = link(index, b)
                for iv in range(L.iv, L.iv + L.ndof):
                    S = carried(load6(J, 6 * iv), x) * sign
                    if K.aligned == 0:
                        S = rot6_t(R1, S)
                    add_column(index, out, scratch, dof(index, n.dof0 + iv), O.kept, S)
                b = L.parent
        first = entry(asked, K.column0).iv
        for r in range(K.rows):
            for k in range(n.nv):
                rows[first + r, k] = scratch[r, k]
    return int(get(out, O.lost))
