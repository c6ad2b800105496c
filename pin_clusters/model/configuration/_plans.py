"""Builds the plans of fast calls for ``integrate``, ``difference``, their derivatives, and ``project``.

A plan is a list of compiled steps: Pinocchio functions on the tree, kernels for loops, and affine maps for couplings.
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

_PRECISION = 1e-12  # default tolerance of comparisons, as in Pinocchio
_MOST_KNOWN = 16  # maximum number of ``hold`` arguments of ``project`` for which a plan is stored
Plans = tuple[Any, ...]


class _Move(Form):
    """Builds the plan of a function that moves or compares configurations.

    ``places`` are the indices of the independent velocities in the tree's v. ``entries`` maps the index in the tree's v
    of each joint with one coordinate to its index in q. A word is an array of one integer, the address of a vector.
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
        """Return the number for ``call`` of a vector argument; if ``read``, other steps may also read the vector."""
        size = self.size(name)
        self.work.append(("vector", self.positions[name], int(not read), size, np.zeros(size)))
        return self._result()

    def new(self, size: int, word: np.ndarray) -> int:
        """Add a step that creates a vector and writes its address to ``word``; return its number for ``call``."""
        self.work.append(("fresh", 1, size, 0, 0, word))
        return self._result()

    def pinocchio(self, function: Any, size: int, *arguments: Any) -> tuple[int, np.ndarray]:
        """Add a call of a Pinocchio function that returns a vector; return this vector's number and its word."""
        word = register()
        self.call(function, self.tree, *arguments)
        result = self._result()
        self.numbers(result, size, word)
        return result, word

    def numbers(self, result: int, size: int, word: np.ndarray) -> np.ndarray:
        self.work.append(("result", result - RESULT, size, word))
        return word

    def _result(self) -> int:
        self.results_so_far += 1
        return RESULT + self.results_so_far - 1

    def spread(self, v: np.ndarray, to: np.ndarray) -> None:
        self.work += [("zero", self.tree.nv, to), ("scatter", len(self.places), self.places, v, v, to)]

    def affine(self, map_: Affine, x: np.ndarray, to: np.ndarray) -> None:
        rows, terms = (len(map_.at), map_.at, map_.constants), (len(map_.to), map_.to, map_.of, map_.coefficients)
        self.work.append(("affine", *rows, *terms, x, to))

    def integrate(self, q: str, v: np.ndarray) -> int | None:
        """Add steps that move q along the vector of the word v; return the result's index, or None if impossible."""
        model, y, q_word = self.owner, register(), register()
        if not self.shape.linear:
            return None
        added = np.array([self.entries.get(int(iv), -1) for iv in self.places], dtype=np.int64)
        if (added >= 0).all():  # For joints with one coordinate, Pinocchio only adds v to q.
            q_word = self.word(q)
            moved = self.new(model.nq, y)
            self.work += [("move", model.nq, q_word, y), ("plus", model.nv, added, q_word, v, y)]
        else:
            to, start, arguments = register(), self.vector_argument(q, read=bool(model.closures)), list(self.checks)
            spread = self.new(self.tree.nv, to)
            self.spread(v, to)
            moved, y = self.pinocchio(pin.integrate, model.nq, start, spread)
            if model.closures:
                self.work += arguments  # Read the address of v again, because Python code may have run since.
                self.numbers(start, model.nq, q_word)
        if model.closures and not self.carry(q_word, v, y):
            return None
        self.affine(self.shape.affine, y, y)
        return moved - RESULT

    def difference(self, v: np.ndarray) -> int | None:
        """Add steps that write the velocity from q1 to q2 to the vector of the word v; return its index, or None."""
        model, start, end, to = self.owner, 0, 0, register()
        plain = len(self.entries) == self.tree.njoints - 1  # For joints with one coordinate, Pinocchio only subtracts.
        if not plain:
            start, end = (self.vector_argument(name, read=bool(model.closures)) for name in ("q1", "q2"))
            _, to = self.pinocchio(pin.difference, self.tree.nv, start, end)
        velocity = self.new(model.nv, v)
        q1, q2 = self.word("q1"), self.word("q2")
        if plain:
            self.work.append(("minus", model.nv, self._entries_of(self.places), q2, q1, v))
        else:
            self.work.append(("gather", len(self.places), self.places, to, to, v))
            if model.closures:  # Read the addresses of q1 and q2 again, because Python code may have run.
                q1, q2 = (self.numbers(x, model.nq, register()) for x in (start, end))
        return None if model.closures and not self._arrives(v, q1, q2, start, end) else velocity - RESULT

    def _entries_of(self, velocities: Any) -> np.ndarray:
        return np.array([self.entries[int(iv)] for iv in velocities], dtype=np.int64)

    def _arrives(self, v: np.ndarray, q1: np.ndarray, q2: np.ndarray, start: int, end: int) -> bool:
        """Add a check that the loops move from q1 to q2 along v; return whether compiled code exists.

        v, q1 and q2 are words; ``start`` and ``end`` are the numbers of q1 and q2 for ``call``.
        """
        model, loops, y, gaps, before = self.owner, loops_of(self.owner), register(), register(), self.results_so_far
        dependents, positions = np.array(loops.dependents, dtype=np.int64), np.arange(len(loops.dependents))
        self.work.append(("finite", model.nq, q2))
        if set(loops.entries.tolist()) <= set(self.entries.values()):  # These joints only need sums and differences.
            single = np.array([i for i, iv in enumerate(self.places) if int(iv) in self.entries], dtype=np.int64)
            velocities = self.lead_to(np.zeros(len(single)))
            self.new(model.nq, y)
            self.work += [("move", model.nq, q1, y), ("gather", len(single), single, v, v, velocities)]
            self.work.append(("plus", len(single), self._entries_of(self.places[single]), q1, velocities, y))
            if not self.carry(q1, v, y):
                return False
            self.new(len(dependents), gaps)
            self.work.append(("minus", len(dependents), self._entries_of(dependents), q2, y, gaps))
        else:
            positions, to = dependents, register()
            tangent = self.new(self.tree.nv, to)
            self.spread(v, to)
            reached, y = self.pinocchio(pin.integrate, model.nq, start, tangent)
            if not self.carry(q1, v, y):
                return False
            _, gaps = self.pinocchio(pin.difference, self.tree.nv, reached, end)
        self.work.append(("turns", len(dependents), positions, loops.periods.copy(), gaps))
        self.work += [("drop",)] * (self.results_so_far - before)
        self.results_so_far = before
        return True

    def carry(self, q: np.ndarray, v: np.ndarray, target: np.ndarray) -> bool:
        """Add a step that writes the positions of loop joints to ``target``; return whether compiled code exists."""
        model, loops = self.owner, loops_of(self.owner)
        code = _code(model, MOVE)
        if not code or not loops.compiled:
            return False
        nq, dependent_entries = model.nq, np.setdiff1d(loops.entries, loops.independent_entries).astype(np.int64)
        arrays = {"held": np.zeros(nq), "spare": np.zeros(nq)}
        held = self.lead_to(arrays["held"])
        self.work += [("finite", nq, q), ("finite", model.nv, v), ("save", nq, arrays["held"], q)]
        leads = {"velocity": (v, model.nv), "target": (target, nq)}
        self.run(MOVE, code, _tables(model), "held velocity target spare", arrays=arrays, leads=leads)
        self.work.append(("same_places", len(dependent_entries), dependent_entries, held, held, target))
        return True


def _code(model: ClusterModel, operation: Any) -> int:
    generic, movers = kernels.KERNELS_BY_NAME[operation.name].compiled_address, movers_of(model)
    return generic if movers is None else int(movers.address(operation.name, generic))


@once
def _tables(model: ClusterModel) -> kernels.Pointer:
    (work,) = on_a_page(model.tables.work)
    return kernels.Pointer(model.tables.index, model.tables.params, work, np.zeros(1))


def of_integrate(model: ClusterModel, function: Any) -> Plans:
    form = _Move(model, function, "q v")
    first = form.integrate("q", form.word("v"))
    return () if first is None else (form.plan(first),)


def of_difference(model: ClusterModel, function: Any) -> Plans:
    form = _Move(model, function, "q1 q2")
    first = form.difference(register())
    return () if first is None else (form.plan(first),)


def of_interpolate(model: ClusterModel, function: Any) -> Plans:
    form, alpha, v = _Move(model, function, "q1 q2 alpha"), np.zeros(1), register()
    if not form.shape.linear:
        return ()
    form.checks.append(("real", form.positions["alpha"], alpha))
    if not model.closures:
        start, end = form.vector_argument("q1"), form.vector_argument("q2")
        result, q = form.pinocchio(pin.interpolate, model.nq, start, end, form.positions["alpha"])
        form.affine(form.shape.affine, q, q)
        return (form.plan(result - RESULT),)
    if form.difference(v) is None:
        return ()
    form.work.append(("scale", model.nv, v, alpha))
    first = form.integrate("q1", v)
    return () if first is None else (form.plan(first),)


def of_neutral(model: ClusterModel, function: Any) -> Plans:
    form = _Move(model, function, "")
    form.copied(form.shape.neutral.copy())
    return (form.plan(),)


def of_random(model: ClusterModel, function: Any) -> Plans:
    plans = []
    for names in ("", "lower_bound upper_bound"):
        form = _Move(model, function, names)
        if model.closures or not form.shape.linear:
            return ()
        limits: list[Any] = [np.array(x) for x in form.shape.limits]
        if names:
            limit_words, limits = [form.word(name) for name in names.split()], []
            words = [register() for _ in limit_words]
            for word, source in zip(words, limit_words, strict=True):
                limits.append(form.new(model.nq, word))
                form.work.append(("move", model.nq, source, word))
            form.work.append(("bounds", model.nq, form.shape.bounded.astype(float), *words))
        drawn, q = form.pinocchio(pin.randomConfiguration, model.nq, *limits)
        form.affine(form.shape.affine, q, q)
        plans.append(form.plan(drawn - RESULT))
    return tuple(plans)


def of_tree(model: ClusterModel, function: Any) -> Plans:
    names, plans = [name for name in function.positions if name.startswith("q")], []
    for with_precision in (False, True) if "prec" in function.positions else (False,):
        form = _Move(model, function, " ".join([*names, *["prec"] * with_precision]))
        arguments: list[Any] = [form.vector_argument(name) for name in names]
        if with_precision:
            form.checks.append(("real", form.positions["prec"], np.zeros(1)))
        if "prec" in form.positions:
            arguments.append(form.positions["prec"] if with_precision else _PRECISION)
        form.call(getattr(pin, function.__name__), form.tree, *arguments)
        plans.append(form.plan(len(names)))
    return tuple(plans)


def of_project(model: ClusterModel, function: Any) -> Plans:
    plan = held_plan(model, function, ())
    return () if plan is None else (plan,)


def held_plan(model: ClusterModel, function: Any, ids: tuple[int, ...], hold: Any = None) -> Any:
    """Return the plan of ``project`` for the held joints ``ids``; None if no plan is possible."""
    form, y = _Move(model, function, "q" + " hold" * (hold is not None)), register()
    shape, nq, loops = form.shape, model.nq, loops_of(model) if model.closures else None
    correction, inside = shape.way(model, ids), len(shape.followers) - len(shape.way(model, ()).outside)
    if not shape.linear or inside or correction.rest is not None or (loops and not loops.compiled):
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
        held_v, before = np.zeros(form.tree.nv), np.zeros(nq)
        held_v[[iv for j in ids for iv in in_v(form.tree, j)]] = 1.0
        form.work.append(("save", nq, before, y))
        form.run(PROJECT, code, _tables(model), "moved held", arrays={"held": held_v}, leads={"moved": (y, nq)})
        form.work.append(("near", nq, before, y))
    if not correction.outside:
        return form.plan()
    residuals, to = form.lead_to(np.zeros(len(correction.outside))), register()
    form.affine(correction.residual, y, residuals)
    step = form.new(form.tree.nv, to)
    form.work.append(("zero", form.tree.nv, to))
    form.affine(correction.step, residuals, to)
    result, moved = form.pinocchio(pin.integrate, nq, RESULT, step)
    form.affine(shape.affine, moved, moved)
    held = np.array([i for j in ids for i in in_q(form.tree, j)], dtype=np.int64)
    before = form.numbers(RESULT, nq, register())
    form.work.append(("same_places", len(held), held, before, before, moved))
    return form.plan(result - RESULT)


def remember_hold(model: ClusterModel, function: Any, hold: Any, ids: tuple[int, ...]) -> None:
    """Store the plan of ``project`` for the held joints ``ids``, for later calls with the same argument ``hold``."""
    fixed = type(hold) is str or (type(hold) is tuple and hold and all(type(name) is str for name in hold))
    if fixed and is_fast(function) and (plan := held_plan(model, function, ids, hold)) is not None:
        model._remember_plan(function, plan, _MOST_KNOWN)


@once
def leaders_of(model: ClusterModel) -> tuple[pin.Model, np.ndarray]:
    """Return a tree that has only the independent joints, all on the universe, and the indices of these joints in q."""
    full_tree, tree, iq = model.own_tree, pin.Model(), list[int]()
    independent = {int(iv) for iv in model.idx_v_independent}
    for j in range(1, full_tree.njoints):
        if full_tree.nvs[j] and in_v(full_tree, j)[0] in independent:
            tree.addJoint(0, full_tree.joints[j], pin.SE3.Identity(), full_tree.names[j])
            iq += in_q(full_tree, j)
    assert tree.nv == model.nv, "a joint is independent in part"
    return tree, np.array(iq, dtype=np.int64)


def of_tangent(model: ClusterModel, function: Any) -> Plans:
    """Return one plan per set of arguments for a function that Pinocchio evaluates on the tree of ``leaders_of``."""
    tree, places = leaders_of(model)
    by_position = "argument_position" in function.positions
    names, plans = [name for name in function.positions if name not in ("model", "argument_position")], []
    is_whole = len(places) == model.nq and (places == np.arange(model.nq)).all()
    for by in (None, pin.ARG0, pin.ARG1) if by_position else (None,):
        form = _Move(model, function, " ".join([*names, *["argument_position"] * (by is not None)]))
        arguments = list[Any]()
        for name in names:
            if name == "Jin":
                form.checks.append(("rows", form.positions[name], model.nv))
                arguments.append(form.positions[name])
            elif name == "v" or is_whole:
                arguments.append(form.vector_argument(name))
            else:
                source, gathered = form.word(name), np.zeros(len(places))
                arguments.append(gathered)
                form.work.append(("gather", len(places), places, source, source, form.lead_to(gathered)))
        first_result = form.results_so_far
        if by is not None:
            position = form.positions["argument_position"]
            form.checks.append(("member", position, pin.ArgumentPosition, int(by), -1))
            arguments.append(position)
        form.call(getattr(pin, function.__name__), tree, *arguments)
        plans.append(form.plan(first_result))
    return tuple(plans)
