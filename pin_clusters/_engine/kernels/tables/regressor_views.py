"""Reading rows of the tables of the regressor: see ``regressor_layout``."""

from __future__ import annotations

from .regressor_layout import Armature, Body, Column, Entry, Head, Link, Pair, Rod, Room, Spin, Turn
from .views import view_of

head = view_of(Head)
room = view_of(Room)
link = view_of(Link)
column = view_of(Column)
entry = view_of(Entry)
body = view_of(Body)
pair = view_of(Pair)
spin = view_of(Spin)
turn = view_of(Turn)
armature = view_of(Armature)
rod = view_of(Rod)
