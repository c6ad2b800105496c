"""Plans of fast calls of ``integrate``, ``difference``, ``project`` and the derivatives of the first two.

Pinocchio moves the joints of the tree, kernels carry loops along, and an affine map sets joints that follow others.
"""

from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.arrays import on_a_page
from ..._support.trees import in_q, in_v
from ...compiler import entry_points as kernels
from ...compiler.calls import RESULT, Form, is_fast, register
from ...compiler.operations import MOVE, PROJECT
from .. import ClusterModel, loops_of, movers_of, once
from ._shortest import Affine
from .manifold import Manifold, manifold

_PRECISION = 1e-12  # of comparisons, if the user gives none
_MOST_KNOWN = 16  # held joints of ``project`` that the extension knows again
Plans = tuple[Any, ...]


class _Move(Form):
    """A form of a call that moves configurations.

    Attributes:
        shape: What configurations of the robot are.
        tree: The tree that Pinocchio moves.
        places: Where the independent velocities stand in the tree's.
        entries: For joints of one number: where that stands in q, by its place in the tree's velocity.
        results_so_far: How many results the steps have made.
    """

    def __init__(self, model: ClusterModel, function: Any, required: str) -> None:
        super().__init__(model, function, required)
        self.shape: Manifold = manifold(model)
        self.tree, self.places = model.own_tree, np.array(model.idx_v_independent, dtype=np.int64)
        tree = self.tree
        single = [j for j in range(1, tree.njoints) if tree.nqs[j] == tree.nvs[j] == 1]
        self.entries = {in_v(tree, j)[0]: in_q(tree, j)[0] for j in single}
        self.results_so_far = 0

    def vector_argument(self, name: str, *, read: bool = False) -> int:
        """Return the argument for a call of Pinocchio, whose numbers steps may also ``read``."""
        size = self.size(name)
        self.work.append(("vector", self.positions[name], int(not read), size, np.zeros(size)))
        return self._result()

    def new(self, size: int, word: np.ndarray) -> int:
        """Make a vector; return the argument for a call of Pinocchio."""
        self.work.append(("fresh", 1, size, 0, 0, word))
        return self._result()

    def pinocchio(self, function: Any, size: int, *arguments: Any) -> tuple[int, np.ndarray]:
        """Call Pinocchio for the tree, which returns a vector; return its argument, and the word that leads to it."""
        word = register()
        self.call(function, self.tree, *arguments)
        made = self._result()
        self.numbers(made, size, word)
        return made, word

    def numbers(self, made: int, size: int, word: np.ndarray) -> np.ndarray:
        """Let a word lead to the numbers of a vector that was made."""
        self.work.append(("result", made - RESULT, size, word))
        return word

    def _result(self) -> int:
        self.results_so_far += 1
        return RESULT + self.results_so_far - 1

    def spread(self, v: np.ndarray, to: np.ndarray) -> None:
        """Write independent velocities among zeros."""
        self.work += [("zero", self.tree.nv, to), ("scatter", len(self.places), self.places, v, v, to)]

    def affine(self, map_: Affine, x: np.ndarray, to: np.ndarray) -> None:
        """Apply an affine map."""
        rows, terms = (len(map_.at), map_.at, map_.constants), (len(map_.to), map_.to, map_.of, map_.coefficients)
        self.work.append(("affine", *rows, *terms, x, to))

    def integrate(self, q: str, v: np.ndarray) -> int | None:
        """Move q along v; return the number of the first result, None if there is no way.

        Args:
            q: Name of the argument.
            v: Word that leads to the independent velocity.
        """
        model, y, at = self.owner, register(), register()
        if not self.shape.linear:
            return None
        added = np.array([self.entries.get(int(iv), -1) for iv in self.places], dtype=np.int64)
        if (added >= 0).all():  # a sum is all that Pinocchio would do
            at = self.word(q)
            made = self.new(model.nq, y)
            self.work += [("move", model.nq, at, y), ("plus", model.nv, added, at, v, y)]
        else:
            to, start, arguments = register(), self.vector_argument(q, read=bool(model.closures)), list(self.checks)
            spread = self.new(self.tree.nv, to)
            self.spread(v, to)
            made, y = self.pinocchio(pin.integrate, model.nq, start, spread)
            if model.closures:
                self.work += arguments  # Python ran meanwhile: v is looked up again
                self.numbers(start, model.nq, at)
        if model.closures and not self.carry(at, v, y):
            return None
        self.affine(self.shape.affine, y, y)
        return made - RESULT

    def difference(self, v: np.ndarray) -> int | None:
        """Make the velocity from q1 to q2, to which v will lead: the number of the result, None if there is no way.

        What is made behind it is dropped.
        """
        model, start, end, to = self.owner, 0, 0, register()
        plain = len(self.entries) == self.tree.njoints - 1  # Pinocchio would only subtract
        if not plain:
            start, end = (self.vector_argument(name, read=bool(model.closures)) for name in ("q1", "q2"))
            _, to = self.pinocchio(pin.difference, self.tree.nv, start, end)
        made = self.new(model.nv, v)
        q1, q2 = self.word("q1"), self.word("q2")
        if plain:
            self.work.append(("minus", model.nv, self._entries_of(self.places), q2, q1, v))
        else:
            self.work.append(("gather", len(self.places), self.places, to, to, v))
            if model.closures:  # Python ran meanwhile: the arguments are looked up again
                q1, q2 = (self.numbers(x, model.nq, register()) for x in (start, end))
        return None if model.closures and not self._arrives(v, q1, q2, start, end) else made - RESULT

    def _entries_of(self, velocities: Any) -> np.ndarray:
        """Return where joints of one number stand in q, by their places in the tree's velocity."""
        return np.array([self.entries[int(iv)] for iv in velocities], dtype=np.int64)

    def _arrives(self, v: np.ndarray, q1: np.ndarray, q2: np.ndarray, start: int, end: int) -> bool:
        """See whether the loops come from q1 to q2 along v; returns whether the code for it is there.

        Args:
            v: Word that leads to the independent velocity.
            q1: The same of the configuration before.
            q2: The same of the one behind.
            start: The argument for a call of Pinocchio, of q1.
            end: The same of q2.
        """
        model, loops, y, apart, before = self.owner, loops_of(self.owner), register(), register(), self.results_so_far
        dependents, at = np.array(loops.dependents, dtype=np.int64), np.arange(len(loops.dependents))
        self.work.append(("finite", model.nq, q2))
        if set(loops.entries.tolist()) <= set(self.entries.values()):  # in loops Pinocchio would only add and subtract
            own = np.array([i for i, iv in enumerate(self.places) if int(iv) in self.entries], dtype=np.int64)
            some = self.lead_to(np.zeros(len(own)))
            self.new(model.nq, y)
            self.work += [("move", model.nq, q1, y), ("gather", len(own), own, v, v, some)]
            self.work.append(("plus", len(own), self._entries_of(self.places[own]), q1, some, y))
            if not self.carry(q1, v, y):
                return False
            self.new(len(dependents), apart)
            self.work.append(("minus", len(dependents), self._entries_of(dependents), q2, y, apart))
        else:
            at, to = dependents, register()
            way = self.new(self.tree.nv, to)
            self.spread(v, to)
            reached, y = self.pinocchio(pin.integrate, model.nq, start, way)
            if not self.carry(q1, v, y):
                return False
            _, apart = self.pinocchio(pin.difference, self.tree.nv, reached, end)
        self.work.append(("turns", len(dependents), at, loops.periods.copy(), apart))
        self.work += [("drop",)] * (self.results_so_far - before)
        self.results_so_far = before
        return True

    def carry(self, q: np.ndarray, v: np.ndarray, target: np.ndarray) -> bool:
        """Move the joints of loops in the target, where the others are; returns whether the code for it is there."""
        model, loops = self.owner, loops_of(self.owner)
        code = _code(model, MOVE)
        if not code or not loops.compiled:
            return False
        nq, left = model.nq, np.setdiff1d(loops.entries, loops.independent_entries).astype(np.int64)
        arrays = {"held": np.zeros(nq), "spare": np.zeros(nq)}
        held = self.lead_to(arrays["held"])
        self.work += [("finite", nq, q), ("finite", model.nv, v), ("save", nq, arrays["held"], q)]
        leads = {"velocity": (v, model.nv), "target": (target, nq)}
        self.run(MOVE, code, _tables(model), "held velocity target spare", arrays=arrays, leads=leads)
        self.work.append(("same_places", len(left), left, held, held, target))
        return True


def _code(model: ClusterModel, operation: Any) -> int:
    """Return the address of what moves or closes loops, 0 if it is not compiled."""
    own, movers = kernels.KERNELS_BY_NAME[operation.name].compiled_address, movers_of(model)
    return own if movers is None else int(movers.address(operation.name, own))


@once
def _tables(model: ClusterModel) -> kernels.Pointer:
    (work,) = on_a_page(model.tables.work)
    return kernels.Pointer(model.tables.index, model.tables.params, work, np.zeros(1))


def of_integrate(model: ClusterModel, function: Any) -> Plans:
    """Return the plan of ``integrate``."""
    form = _Move(model, function, "q v")
    first = form.integrate("q", form.word("v"))
    return () if first is None else (form.plan(first),)


def of_difference(model: ClusterModel, function: Any) -> Plans:
    """Return the plan of ``difference``; with loops it sees whether the motion leads from q1 to q2."""
    form = _Move(model, function, "q1 q2")
    first = form.difference(register())
    return () if first is None else (form.plan(first),)


def of_interpolate(model: ClusterModel, function: Any) -> Plans:
    """Return the plan of ``interpolate``."""
    form, alpha, v = _Move(model, function, "q1 q2 alpha"), np.zeros(1), register()
    if not form.shape.linear:
        return ()
    form.checks.append(("real", form.positions["alpha"], alpha))
    if not model.closures:
        start, end = form.vector_argument("q1"), form.vector_argument("q2")
        made, q = form.pinocchio(pin.interpolate, model.nq, start, end, form.positions["alpha"])
        form.affine(form.shape.affine, q, q)
        return (form.plan(made - RESULT),)
    if form.difference(v) is None:
        return ()
    form.work.append(("scale", model.nv, v, alpha))
    first = form.integrate("q1", v)
    return () if first is None else (form.plan(first),)


def of_neutral(model: ClusterModel, function: Any) -> Plans:
    """Return the plan of ``neutral``."""
    form = _Move(model, function, "")
    form.copied(form.shape.neutral.copy())
    return (form.plan(),)


def of_random(model: ClusterModel, function: Any) -> Plans:
    """Return the plans of ``randomConfiguration`` for robots without loops, with and without given limits."""
    found = []
    for names in ("", "lower_bound upper_bound"):
        form = _Move(model, function, names)
        if model.closures or not form.shape.linear:
            return ()
        limits: list[Any] = [np.array(x) for x in form.shape.limits]
        if names:
            given, limits = [form.word(name) for name in names.split()], []
            words = [register() for _ in given]
            for word, at in zip(words, given, strict=True):
                limits.append(form.new(model.nq, word))
                form.work.append(("move", model.nq, at, word))
            form.work.append(("bounds", model.nq, form.shape.bounded.astype(float), *words))
        made, q = form.pinocchio(pin.randomConfiguration, model.nq, *limits)
        form.affine(form.shape.affine, q, q)
        found.append(form.plan(made - RESULT))
    return tuple(found)


def of_tree(model: ClusterModel, function: Any) -> Plans:
    """Return the plans of a function that Pinocchio's function of the same name answers for the tree."""
    names, found = [name for name in function.positions if name.startswith("q")], []
    for more in (False, True) if "prec" in function.positions else (False,):
        form = _Move(model, function, " ".join([*names, *["prec"] * more]))
        given: list[Any] = [form.vector_argument(name) for name in names]
        if more:
            form.checks.append(("real", form.positions["prec"], np.zeros(1)))
        if "prec" in form.positions:
            given.append(form.positions["prec"] if more else _PRECISION)
        form.call(getattr(pin, function.__name__), form.tree, *given)
        found.append(form.plan(len(names)))
    return tuple(found)


def of_project(model: ClusterModel, function: Any) -> Plans:
    """Return the plan of ``project`` without joints that are held."""
    plan = held_plan(model, function, ())
    return () if plan is None else (plan,)


def held_plan(model: ClusterModel, function: Any, ids: tuple[int, ...], hold: Any = None) -> Any:
    """Return the plan of ``project`` for joints that are held, given by that object; None if there is none."""
    form, y = _Move(model, function, "q" + " hold" * (hold is not None)), register()
    shape, nq, loops = form.shape, model.nq, loops_of(model) if model.closures else None
    way, inside = shape.way(model, ids), len(shape.followers) - len(shape.way(model, ()).outside)
    if not shape.linear or inside or way.rest is not None or (loops and not loops.compiled):
        return None
    if hold is not None:
        form.checks.append(("same", form.positions["hold"], hold))
    q = form.word("q")
    form.new(nq, y)
    units = np.array([(first, last - first) for _, first, last in shape.units], dtype=np.int64).reshape(-1)
    form.work += [("finite", nq, q), ("move", nq, q, y), ("units", len(units) // 2, len(units), units, y)]
    if loops:
        code = _code(model, PROJECT)
        if not code:
            return None
        free, before = np.zeros(form.tree.nv), np.zeros(nq)
        free[[iv for j in ids for iv in in_v(form.tree, j)]] = 1.0
        form.work.append(("save", nq, before, y))
        form.run(PROJECT, code, _tables(model), "moved free", arrays={"free": free}, leads={"moved": (y, nq)})
        form.work.append(("near", nq, before, y))
    if not way.outside:
        return form.plan()
    at, to = form.lead_to(np.zeros(len(way.outside))), register()
    form.affine(way.residual, y, at)
    step = form.new(form.tree.nv, to)
    form.work.append(("zero", form.tree.nv, to))
    form.affine(way.step, at, to)
    made, moved = form.pinocchio(pin.integrate, nq, RESULT, step)
    form.affine(shape.affine, moved, moved)
    held = np.array([i for j in ids for i in in_q(form.tree, j)], dtype=np.int64)
    before = form.numbers(RESULT, nq, register())
    form.work.append(("same_places", len(held), held, before, before, moved))
    return form.plan(made - RESULT)


def remember_hold(model: ClusterModel, function: Any, hold: Any, ids: tuple[int, ...]) -> None:
    """Let the extension know the held joints of ``project`` again by the object that named them."""
    fixed = type(hold) is str or (type(hold) is tuple and hold and all(type(name) is str for name in hold))
    if fixed and is_fast(function) and (plan := held_plan(model, function, ids, hold)) is not None:
        model._remember_plan(function, plan, _MOST_KNOWN)


@once
def leaders_of(model: ClusterModel) -> tuple[pin.Model, np.ndarray]:
    """Return the independent joints, each on the universe in the order of v; and where their numbers are in q."""
    own, tree, iq = model.own_tree, pin.Model(), list[int]()
    independent = {int(iv) for iv in model.idx_v_independent}
    for j in range(1, own.njoints):
        if own.nvs[j] and in_v(own, j)[0] in independent:
            tree.addJoint(0, own.joints[j], pin.SE3.Identity(), own.names[j])
            iq += in_q(own, j)
    assert tree.nv == model.nv, "a joint is independent in part"
    return tree, np.array(iq, dtype=np.int64)


def of_tangent(model: ClusterModel, function: Any) -> Plans:
    """Return the plans of functions that Pinocchio answers for the independent joints, by both arguments or by one."""
    tree, places = leaders_of(model)
    by_position = "argument_position" in function.positions
    names, found = [name for name in function.positions if name not in ("model", "argument_position")], []
    same = len(places) == model.nq and (places == np.arange(model.nq)).all()
    for by in (None, pin.ARG0, pin.ARG1) if by_position else (None,):
        form = _Move(model, function, " ".join([*names, *["argument_position"] * (by is not None)]))
        given = list[Any]()
        for name in names:
            if name == "Jin":
                form.checks.append(("rows", form.positions[name], model.nv))
                given.append(form.positions[name])
            elif name == "v" or same:
                given.append(form.vector_argument(name))
            else:
                at, some = form.word(name), np.zeros(len(places))
                given.append(some)
                form.work.append(("gather", len(places), places, at, at, form.lead_to(some)))
        made = form.results_so_far
        if by is not None:
            position = form.positions["argument_position"]
            form.checks.append(("member", position, pin.ArgumentPosition, int(by), -1))
            given.append(position)
        form.call(getattr(pin, function.__name__), tree, *given)
        found.append(form.plan(made))
    return tuple(found)
