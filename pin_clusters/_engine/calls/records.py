"""The records: what stands on the desks of data, models and plans, and what machine code finds there.

Desks are told apart by how many numbers they have, so no two of them may have as many.
"""

from collections.abc import Sequence

from ..entry_points import Pointer
from ..operations import CALLED
from ..owed import WORDS
from .recollection import Recollection
from .record import Array, Code, Count, Flag, Object, Part, Record, Room, Sizes
from .watch import Watch


class DataDesk(Record, more={one.name: Sizes(2) for one in CALLED}):
    """What a data object has at hand; then of each function addresses: of the kernel, 0 if none, and its tables."""

    model = Room()  # its table, which tells whose plans fit
    nq = Count()
    nv = Count()
    njoints = Count()
    nframes = Count()
    # shapes of results
    matrix = Sizes("nv", "nv")
    motion = Sizes(6, "nv")
    of_point = Sizes(3, "nv")
    hessian = Sizes(6, "nv", "nv")
    # results of the data, and room
    zeros = Room("nv")
    tau = Room("nv")
    energies = Room(2)  # of the kernel
    kept = Room(3)  # of the data
    M_live = Room("nv", "nv")  # the mass matrix that users see
    owed = Room(WORDS)  # see ``owed``
    states = Room()  # rooms of states for what is owed
    forces = Room("njoints", 6)  # external ones, where kernels read them
    known = Part(Recollection)
    # of the tree: words that tell where it is, what is to be computed as well
    own_tree = Object()
    tree_data = Object()
    tree_words = Part(Watch)
    also = Count()
    # of loops: G brought to a state, and its rate; derivatives of both, with the room that they need
    coupling = Code()
    coupling_rate = Code()
    coupling_tables = Part(Pointer)
    rate_tables = Part(Pointer)
    motion_rates = Code()
    motion_rates_tables = Part(Pointer)
    coupled_size = Count()  # of one matrix; 0 without loops
    coupled = Room(4, "coupled_size")
    turned = Room(2, "coupled_size")
    bends_size = Count()
    bends = Room("bends_size")
    # states, as ``Derived`` lists them, each with whether it is there
    posed_q = Room("nq")
    posed = Room(1)
    bent_q = Room("nq")
    bent = Room(1)
    seen_q = Room("nq")
    seen_v = Room("nv")
    seen = Room(1)
    # states that were given last, of which derivatives may be asked for
    after_rnea = Room()
    after_aba = Room()
    after_contacts = Room()  # then 0.0 if forces were neither damped nor iterated
    # derivatives of inverse dynamics
    dtau_dq = Room("nv", "nv")
    dtau_dv = Room("nv", "nv")
    scratch = Room("nv", "nv")
    C = Room("nv", "nv")
    M = Room("nv", "nv")
    total = Room(24, "nv")
    unasked = Room("nv")  # torques
    # of forward dynamics: tree of velocities, right sides, factors; the kernel that reads external forces
    velocities = Array(1)
    sides = Array(1)
    factors = Array(1)
    ddq = Room("nv")
    ddq_dq_dv = Room(2, "nv", "nv")
    Minv = Room("nv", "nv")
    # what knows external forces; and the kernel itself, whose records contacts read
    forward_kernel = Code()
    inverse_forces = Code()
    inverse_kernel = Code()
    contact_rates = Code()
    # with contacts: by torques; derivatives of forces, for how many rows there is room, how many are there
    ddq_dtau = Room("nv", "nv")
    dlambda = Room()
    dlambda_room = Count()
    dlambda_rows = Count()
    # regressors
    parameters = Count()
    static_columns = Count()
    regressor = Sizes("nv", "parameters")
    static_regressor = Sizes(3, "static_columns")
    static = Room(3, "static_columns")
    kinetic = Room("parameters")
    potential = Room("parameters")

    def put_kernels(self, kernels: Sequence[tuple[int, int]]) -> None:
        """Write those of all functions, in the order of ``CALLED``: at once, as there are many."""
        self.numbers[-2 * len(CALLED) :] = [x for pair in kernels for x in pair]


class Plan(Record):
    """What columns of the inverse mass matrix one asks for."""

    model = Room()
    asked = Array(2)
    placements = Array(1)
    panel = Array(1)
    torques = Array(2)
    gram = Sizes(2)
    response = Sizes(2)
    accelerations = Flag()  # or products


class TermsPlan(Record):
    """Frames of which a controller wants all terms, and where these are written."""

    model = Room()
    what = Count()  # of the tree
    reference = Count()
    places = Array(1)
    frames = Array(1)  # what the kernel of frames writes; behind it M, nle and g
    M = Room()
    nle = Room()
    g = Room()
    end = Count()


class ContactPlan(Record):
    """Contacts: what kernels are given, the lists that the user gave, words that must be what they were."""

    model = Room()
    asked = Array(2)
    placements = Array(1)
    panel = Array(1)
    gram = Array(2)
    forces = Array(1)
    models = Object()
    datas = Object()
    words = Part(Watch)
    # of their derivatives: shape of those of forces, rooms
    of_forces = Sizes(2)
    acting = Array(1)
    order = Array(1)
    sides = Array(1)
    jacobian = Array(1)
    response = Array(1)
    turned = Array(1)
    columns = Array(1)


class Affine(Record):
    """An affine map: rows, then terms, see ``parts.affine``."""

    rows = Count()
    places = Room("rows")  # in the result
    constants = Room("rows")
    terms = Count()
    to = Room("terms")  # row in the result
    of = Room("terms")  # place of a number
    coefficients = Room("terms")


class Way(Record):
    """The shortest way onto the couplings: what stays, for the kernel and in q; residuals and the step against them."""

    free = Room()
    held = Count()
    held_at = Room("held")
    outside = Count()
    residuals = Room("outside")
    residual = Part(Affine)
    step = Part(Affine)


class ModelDesk(Record):
    """What a model has at hand."""

    # whether the usual call may be done here
    integrates = Flag()
    differs = Flag()
    projects = Flag()
    nq = Count()
    nv = Count()
    nv_tree = Count()
    tree = Object()
    leaders = Object()  # the independent joints alone, and where they are in q
    leading = Array(1)
    independent_at = Room("nv")
    adds = Flag()  # whether independent velocities are added to places of q, and that is all
    added_at = Room("nv")
    follow = Part(Affine)
    # of closed loops: the kernels that move and close them, room; entries of q and v that depend on others
    closed = Flag()
    move = Code()
    move_tables = Part(Pointer)
    close = Code()
    close_tables = Part(Pointer)
    held = Room("nq")
    spare = Room("nq")
    left = Count()
    left_at = Room("left")
    dependents = Count()
    dependents_at = Room("dependents")
    turns_at = Room("dependents")
    # of a projection: where vectors of unit norm begin, and how long they are; ways
    units = Count()
    units_at = Room("units", 2)
    way = Part(Way)
    holds = Part(Recollection)  # ways for joints that were held before, by the object that named them
