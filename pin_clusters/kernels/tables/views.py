"""Functions that return a row of a table as a named tuple; for example, ``cluster(index, c).nk`` reads field ``nk``.

Compiled code does not read fields that are not used, so a view is as fast as reading single entries.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from ...compiler.numba_jit.jit import INLINE, inline
from ...compiler.switches import BOUNDSCHECK
from . import layout
from .contacts_layout import Contact, Contacts, Fields
from .sizes import offsets
from .tree_layout import Derived, Dof, Driver, Field, Link, Lump, Own, Place, Sections, Spin, Term, TreeHeader

# Numba compares the signatures of an overload and its implementation, including annotations; so neither has
# annotations.


def view_of(kind: Any) -> Callable[[Any, Any], Any]:
    """Return a function that converts a row of a table to a named tuple of class ``kind``."""
    fields = len(kind._fields)

    def read(index, row):
        return kind(*(int(n) for n in index[row, :fields]))

    @intrinsic
    def load(typing: Any, index: Any, row: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            data = context.make_array(signature.args[0])(context, builder, args[0]).data
            start = builder.gep(data, [builder.mul(args[1], ir.Constant(args[1].type, layout.ROW_WIDTH))])
            values = [builder.load(builder.gep(start, [ir.Constant(ir.IntType(64), i)])) for i in range(fields)]
            return context.make_tuple(builder, signature.return_type, values)

        return types.NamedUniTuple(types.int64, fields, kind)(index, types.intp), codegen

    @overload(read, **INLINE)
    def _read(index, row):
        def checked(index, row):
            assert 0 <= row < index.shape[0], "kernel reads the index out of bounds"
            return load(index, row)

        return checked if BOUNDSCHECK else lambda index, row: load(index, row)

    return read


body = view_of(layout.Body)
cluster = view_of(layout.Cluster)
head = view_of(layout.Head)
velocity_row = view_of(layout.Velocity)
closure = view_of(layout.Closure)
functions_of = view_of(layout.Functions)
on_path = view_of(layout.OnPath)
on_joint = view_of(layout.OnJoint)
on_angle = view_of(layout.OnAngle)
term_row = view_of(layout.Term)
follower = view_of(layout.Follower)
share = view_of(layout.Share)
element = view_of(layout.Element)
rod = view_of(layout.Rod)
carrier_row = view_of(layout.Carrier)
rotor = view_of(layout.Rotor)
ground = view_of(layout.Ground)
contacts_header = view_of(Contacts)
fields = view_of(Fields)
contact = view_of(Contact)
tree_header_at = view_of(TreeHeader)
sections_at = view_of(Sections)
own_at = view_of(Own)
derived_at = view_of(Derived)
link = view_of(Link)
dof = view_of(Dof)
entry = view_of(Term)
spin_row = view_of(Spin)
driver = view_of(Driver)
field = view_of(Field)
place_at = view_of(Place)
lump = view_of(Lump)
_header = view_of(layout.Header)
_entry = view_of(layout.Entry)
_offsets = inline(offsets)


@inline
def header(index):
    return _header(index, 0)


@inline
def listed(index, first, k):
    return _entry(index, first + k).iv


@inline
def block(H, nk):
    return _offsets(H.at, H.nd, H.nr, nk)
