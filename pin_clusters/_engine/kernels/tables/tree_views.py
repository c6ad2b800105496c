"""Reading rows of the tables of the tree: see ``tree_layout``."""

from .tree_layout import Derived, Dof, Driver, Field, Link, Lump, Own, Place, Sections, Spin, Term, TreeHeader
from .views import view_of

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
