"""Reading rows of the tables of the regressor: see ``regressor_layout``."""

from __future__ import annotations

from .regressor_layout import Armature, Body, Column, Driver, Entry, Head, Link, Pair, Rod, Room, Spin, Turn
from .views import view_of

head_at = view_of(Head)
room_at = view_of(Room)
link_at = view_of(Link)
column_at = view_of(Column)
entry_at = view_of(Entry)
body_at = view_of(Body)
pair_at = view_of(Pair)
spin_at = view_of(Spin)
driver_at = view_of(Driver)
turn_at = view_of(Turn)
armature_at = view_of(Armature)
rod_at = view_of(Rod)
