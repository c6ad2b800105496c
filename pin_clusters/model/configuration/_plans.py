"""Plans of fast calls of ``integrate``, ``difference``, ``project`` and the derivatives of the first two.

Pinocchio moves the joints of the tree, kernels carry loops along, and an affine map sets joints that follow others.
"""

from typing import Any

import numpy as np
import pinocchio as pin

from ..._engine import entry_points as kernels
from ..._engine.calls import RESULT, Form, register
from ..._engine.operations import MOVE, PROJECT
from ..._support.arrays import on_a_page
from ..._support.trees import in_q, in_v
from .. import ClusterModel, loops_of, movers_of, once
from ._shortest import Affine
from .manifold import Manifold, manifold

_MOST_KNOWN = 16  # held joints of ``project`` that the extension knows again
Plans = tuple[Any, ...]


class _Move(Form):
    """A form of a call that moves configurations."""

    def __init__(self, model: ClusterModel, function: Any, required: str) -> None:
        super().__init__(model, function, required)
        self.shape: Manifold = manifold(model)
        self.tree, self.places = model.own_tree, np.array(model.idx_v_independent, dtype=np.int64)
        self._results = 0

    def vector_argument(self, name: str) -> int:
        """Return the argument for a call of Pinocchio."""
        size = self.size(name)
        self.work.append(("vector", self.positions[name], size, np.zeros(size)))
        return self._result()

    def new(self, size: int, word: np.ndarray) -> int:
        """Make a vector; return the argument for a call of Pinocchio."""
        self.work.append(("fresh", 1, size, 0, 0, word))
        return self._result()

    def pinocchio(self, function: Any, size: int, *arguments: Any) -> tuple[int, np.ndarray]:
        """Call Pinocchio for the tree, which returns a vector; return its argument, and the word that leads to it."""
        word, given = register(), (self.tree, *arguments)
        self.work.append(("call", function, len(given), *given, *[0] * (5 - len(given))))
        made = self._result()
        self.numbers(made, size, word)
        return made, word

    def numbers(self, made: int, size: int, word: np.ndarray) -> np.ndarray:
        """Let a word lead to the numbers of a vector that was made."""
        self.work.append(("result", made - RESULT, size, word))
        return word

    def _result(self) -> int:
        self._results += 1
        return RESULT + self._results - 1

    def spread(self, v: np.ndarray, to: np.ndarray) -> None:
        """Write independent velocities among zeros."""
        self.work += [("zero", self.tree.nv, to), ("scatter", len(self.places), self.places, v, to)]

    def affine(self, map_: Affine, x: np.ndarray, to: np.ndarray) -> None:
        """Apply an affine map."""
        rows, terms = (len(map_.at), map_.at, map_.constants), (len(map_.to), map_.to, map_.of, map_.coefficients)
        self.work.append(("affine", *rows, *terms, x, to))

    def carry(self, q: np.ndarray, v: np.ndarray, target: np.ndarray) -> bool:
        """Move the joints of loops in the target, where the others are; returns whether the code for it is there."""
        model, loops = self.owner, loops_of(self.owner)
        code = _code(model, MOVE)
        if not code or not loops.compiled:
            return False
        nq, left = model.nq, np.setdiff1d(loops.entries, loops.independent_entries).astype(np.int64)
        held, self.arrays["held"], self.arrays["spare"] = register(), np.zeros(nq), np.zeros(nq)
        held[0] = self.arrays["held"].ctypes.data
        self.work += [("finite", nq, q), ("finite", model.nv, v), ("save", nq, self.arrays["held"], q)]
        words = self.run(MOVE, code, _tables(model), "held . . spare")
        run = self.work.pop()
        for name, size, word in (("v", model.nv, v), ("target", nq, target)):
            self.work.append(("copy", 1, words.leave(name, size), word))
        self.work += [run, ("same_places", len(left), left, held, target)]
        return True


def _code(model: ClusterModel, operation: Any) -> int:
    """Return the address of what moves or closes loops, 0 if it is not compiled."""
    own, movers = kernels.BY_NAME[operation.name].compiled_address, movers_of(model)
    return own if movers is None else int(movers.address(operation.name, own))


@once
def _tables(model: ClusterModel) -> kernels.Pointer:
    (work,) = on_a_page(model._tables.work)
    return kernels.Pointer(model._index, model._params, work, np.zeros(1))


def of_integrate(model: ClusterModel, function: Any) -> Plans:
    """Return the plan of ``integrate``."""
    form, y = _Move(model, function, "q v"), register()
    if not form.shape.linear:
        return ()
    q, v = form.word("q"), form.word("v")
    places = {in_v(form.tree, j)[0]: in_q(form.tree, j)[0] for j in _single(form.tree)}
    added = np.array([places.get(int(iv), -1) for iv in form.places], dtype=np.int64)
    first = 0
    if (added >= 0).all():  # a sum is all that Pinocchio would do
        form.new(model.nq, y)
        form.work += [("move", model.nq, q, y), ("plus", model.nv, added, q, v, y)]
    else:
        at, to = form.vector_argument("q"), register()
        spread = form.new(form.tree.nv, to)
        form.spread(v, to)
        made, y = form.pinocchio(pin.integrate, model.nq, at, spread)
        form.work += form.checks  # Python ran meanwhile: the arguments are looked up again
        first = made - RESULT
    if model.closures and not form.carry(q, v, y):
        return ()
    form.affine(form.shape.affine, y, y)
    return (form.plan(first),)


def _single(tree: pin.Model) -> list[int]:
    return [j for j in range(1, tree.njoints) if tree.nqs[j] == tree.nvs[j] == 1]


def of_difference(model: ClusterModel, function: Any) -> Plans:
    """Return the plan of ``difference``; with loops it sees whether the motion leads from q1 to q2."""
    form, v = _Move(model, function, "q1 q2"), register()
    start, end = form.vector_argument("q1"), form.vector_argument("q2")
    if model.closures:
        form.work.append(("finite", model.nq, form.numbers(end, model.nq, register())))
    way, to = form.pinocchio(pin.difference, form.tree.nv, start, end)
    made = form.new(model.nv, v)
    form.work.append(("gather", len(form.places), form.places, to, v))
    if model.closures:
        loops = loops_of(model)
        form.spread(v, to)
        reached, y = form.pinocchio(pin.integrate, model.nq, start, way)
        if not form.carry(form.numbers(start, model.nq, register()), v, y):
            return ()
        _, apart = form.pinocchio(pin.difference, form.tree.nv, reached, end)
        dependents = np.array(loops.dependents, dtype=np.int64)
        form.work += [("turns", len(dependents), dependents, loops.periods.copy(), apart), ("drop",), ("drop",)]
    return (form.plan(made - RESULT),)


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
        form.arrays["free"], before = np.zeros(form.tree.nv), np.zeros(nq)
        form.arrays["free"][[iv for j in ids for iv in in_v(form.tree, j)]] = 1.0
        form.work.append(("save", nq, before, y))
        words = form.run(PROJECT, code, _tables(model), ". free")
        run = form.work.pop()
        form.work += [("copy", 1, words.leave("q", nq), y), run, ("near", nq, before, y)]
    if not way.outside:
        return form.plan()
    residuals, at, to = np.zeros(len(way.outside)), register(), register()
    at[0] = residuals.ctypes.data
    form.kept.append(residuals)
    form.affine(way.residual, y, at)
    step = form.new(form.tree.nv, to)
    form.work.append(("zero", form.tree.nv, to))
    form.affine(way.step, at, to)
    made, moved = form.pinocchio(pin.integrate, nq, RESULT, step)
    form.affine(shape.affine, moved, moved)
    held = np.array([i for j in ids for i in in_q(form.tree, j)], dtype=np.int64)
    form.work.append(("same_places", len(held), held, form.numbers(RESULT, nq, register()), moved))
    return form.plan(made - RESULT)


def remember_hold(model: ClusterModel, function: Any, hold: Any, ids: tuple[int, ...]) -> None:
    """Let the extension know the held joints of ``project`` again by the object that named them."""
    fixed = type(hold) is str or (type(hold) is tuple and hold and all(type(name) is str for name in hold))
    if fixed and hasattr(function, "positions") and (plan := held_plan(model, function, ids, hold)) is not None:
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
    """Return the plans of ``dIntegrate`` and ``dDifference``, by both arguments or by one."""
    tree, places = leaders_of(model)
    names, found = [name for name in function.positions if name not in ("model", "argument_position")], []
    theirs = getattr(pin, function.__name__)
    for by in (None, pin.ARG0, pin.ARG1):
        form = _Move(model, function, " ".join([*names, *["argument_position"] * (by is not None)]))
        form.tree, given = tree, list[Any]()
        for name in names:
            if name == "v":
                given.append(form.vector_argument(name))
            else:
                at, to = form.word(name), register()
                given.append(form.new(len(places), to))
                form.work.append(("gather", len(places), places, at, to))
        if by is not None:
            position = form.positions["argument_position"]
            form.checks.append(("member", position, pin.ArgumentPosition, int(by), -1))
            given.append(position)
        given.insert(0, tree)
        form.work.append(("call", theirs, len(given), *given, *[0] * (5 - len(given))))
        found.append(form.plan(len(names)))
    return tuple(found)
