"""Functions that read the rows of ``regressor_layout``."""

from .regressor_layout import Armature, Body, Column, Head, Pair, Reach, Rod, Spin
from .views import view_of

head = view_of(Head)
reach = view_of(Reach)
column = view_of(Column)
body = view_of(Body)
pair = view_of(Pair)
spin = view_of(Spin)
armature = view_of(Armature)
rod = view_of(Rod)
