"""The records: what stands on the desks of data, models and plans, and what machine code finds there.

Desks are told apart by how many numbers they have, so no two of them may have as many.
"""

from __future__ import annotations

from .desk import ALL
from .record import Array, Call, Code, Count, Flag, Object, Part, Record, Room, Rows, Sizes, Tables

MOST_OBJECTS = 32
"""In a list that is remembered."""


class Remembered(Record):
    """A list that was given before: see ``recollection``."""

    __slots__ = ()
    first = Count()  # what was asked
    second = Count()  # also the address of an object
    count = Count()  # of the objects
    thing = Count()  # where what was kept is
    objects = Sizes(MOST_OBJECTS)


class Word(Record):
    """A word that must be what it was: see ``Watch``."""

    __slots__ = ()
    where = Count()  # the address of the word is kept
    beyond = Count()  # bytes from that address
    expected = Count()


class DerivativesNumbers(Record):
    """What derivatives need: where results, torques and accelerations are, and the state that belongs to them."""

    __slots__ = ()
    of_position = Room()
    of_rate = Room()
    scratch = Room()
    coriolis = Room()
    total = Room()
    mass = Room()
    torques = Room()
    state = Room()
    # of forward dynamics: tree of velocities, room of right sides, of factors
    tree = Array(1)
    factors_size = Count()
    sides = Array(2)
    factors = Room()
    acceleration = Room()
    six_and_nv = Sizes(2)
    of_forward = Room()
    inverse = Room()
    # of contacts: derivatives of forces, for how many rows there is room, how many are there
    of_torques = Room()
    forces_rates = Room()
    forces_room = Count()
    forces_rows = Count()
    forward_kernel = Code()


class DataDesk(Record, more={entry.name: Call() for entry in ALL}):
    """What a data object has at hand; behind these the kernel of each entry."""

    __slots__ = ()
    nq = Count()
    six = Count()
    nv = Count()
    nv_again = Count()
    zeros = Room("nv")
    energies = Room(2)
    kept = Room(3)
    changed = Flag()
    njoints = Count()
    forces = Room("njoints", 6)
    tau = Room("nv")
    also = Count()
    coupling = Code()
    coupling_tables = Tables()
    nframes = Count()
    rate_tables = Tables()
    known = Rows(Remembered)
    tree_words = Rows(Word)
    derivatives = Part(DerivativesNumbers)
    after_aba = Room()
    three = Count()
    nv_too = Count()
    motion_rates = Code()
    motion_rates_tables = Tables()
    coupled = Room()
    coupled_size = Count()
    coupling_G = Room("coupled_size")
    regressor = Sizes(2)
    static_regressor = Sizes(2)
    static = Room()
    kinetic = Room()
    potential = Room()
    after_contacts = Room()
    model = Room()


class Plan(Record):
    """What columns of the inverse mass matrix one asks for."""

    __slots__ = ()
    asked = Array(2)
    placements = Array(1)
    panel = Array(2)
    torques = Array(2)
    gram = Sizes(2)
    response = Sizes(2)
    accelerations = Flag()  # or products
    model = Room()


class ContactPlan(Record):
    """Contacts: what kernels are given, the lists that the user gave, words that must be what they were."""

    __slots__ = ()
    asked = Array(2)
    placements = Array(1)
    panel = Array(2)
    gram = Array(2)
    forces = Array(1)
    models = Object()
    datas = Object()
    words = Rows(Word)
    # of their derivatives
    motions = Sizes(2)
    acting = Array(1)
    order = Array(1)
    sides = Array(2)
    jacobian = Array(1)
    response = Array(1)
    turned = Array(1)
    columns = Array(1)
    model = Room()


class Affine(Record):
    """An affine map: rows, their places in the result, their constants; then terms, see ``parts.affine``."""

    __slots__ = ()
    rows = Count()
    places = Room("rows")
    constants = Room("rows")
    terms = Count()
    to = Room("terms")  # row in the result
    of = Room("terms")  # place of a number
    coefficients = Room("terms")


class Way(Record):
    """The shortest way onto the couplings: what stays, for the kernel and in q; residuals and the step against them."""

    __slots__ = ()
    free = Room()
    held = Count()
    held_at = Room("held")
    outside = Count()
    residuals = Room("outside")
    residual = Part(Affine)
    step = Part(Affine)


class Hold(Record):
    """Joints that were held before, told by the object that named them, and the way for them."""

    __slots__ = ()
    hold = Count()
    way = Count()


class ModelDesk(Record):
    """What a model has at hand."""

    __slots__ = ()
    # whether the usual call may be done here
    integrates = Flag()
    differs = Flag()
    projects = Flag()
    nq = Count()
    nv = Count()
    nv_tree = Count()
    tree = Object()
    independent_at = Room("nv")
    follow = Part(Affine)
    closed = Flag()
    move = Code()
    move_tables = Tables()
    held = Room("nq")
    spare = Room("nq")
    left = Count()
    left_at = Room("left")
    dependents = Count()
    dependents_at = Room("dependents")
    turns_at = Room("dependents")
    close = Code()
    close_tables = Tables()
    units = Count()
    units_at = Room("units", 2)
    way = Part(Way)
    holds = Rows(Hold)


class Asked(Record):
    """What a simulation asks a function of the user, and what became of it: see ``question``."""

    __slots__ = ()
    function = Object()
    convert = Object()
    values = Room()  # t, q, v, then tau
    nq = Count()
    nv = Count()
    given = Count()  # what the function gave
    error = Sizes(3)  # what it raised: type, value, traceback
