"""How the numbers of a model's tables depend on its inertial parameters: an affine map, found by changing them.

Tables have centres of mass; the map is that of first moments and of inertias about origins, which the parameters are.
All bodies are changed at once, in rounds in which no number depends on two of them; which one a number depends on is
told by changing them by unequal parts. Another change of everything shows whether the map holds.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ..._support.trees import joint_axis
from ...algorithms.parameters.inertial_parameters import parameters
from ...errors import NotAvailableError
from ...kernels.tables.layout import BODY_PARAMS, INERTIA, MASS, Cluster
from ...model import ClusterModel, alike, numbers_of, once, parameter_columns, repacked
from .expressions import Expression, select

_ROUNDING = 1e-11  # of the largest number that a change brings
_STEP = 0.1  # [kg], [kg m], [kg m^2]: less than what the base has


@dataclass(frozen=True)
class InertialMap:
    """``numbers = constant``, then ``numbers[to[k]] += coefficients[k] * parameters[of[k]]``; then centres of mass."""

    bodies: int  # how many bodies the tables have
    constant: np.ndarray  # shape (numbers,)
    to: np.ndarray  # which numbers depend on parameters, one per term
    of: np.ndarray  # which parameter, one per term
    coefficients: np.ndarray  # one per term

    def apply(self, values: np.ndarray) -> np.ndarray:
        """Return the numbers for parameters, which may be expressions."""
        numbers = self.constant.astype(values.dtype)
        for to, of, c in zip(self.to.tolist(), self.of.tolist(), self.coefficients.tolist(), strict=True):
            numbers[to] = numbers[to] + values[of] * c
        for moment, inertia in _bodies(numbers, self.bodies):
            if isinstance(moment[0], Expression) or moment[0] != 0.0:
                moment[1:] = moment[1:] / select(0.0, moment[0], moment[0], 1.0)  # what has no mass has no centre
                inertia -= moment[0] * _of_point(moment[1:])
        return numbers


def _bodies(numbers: np.ndarray, count: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield mass and centre, and inertia, of each body in the tables: views."""
    for b in range(1, count + 1):
        first = b * BODY_PARAMS
        yield numbers[first + MASS : first + INERTIA], numbers[first + INERTIA : first + INERTIA + 6]


def _of_point(x: np.ndarray) -> np.ndarray:
    """Return the inertia of a unit mass at x about the origin: xx, xy, xz, yy, yz, zz."""
    a, b, c = x
    return np.array([b * b + c * c, -a * b, -a * c, a * a + c * c, -b * c, a * a + b * b])


@dataclass(frozen=True)
class _Atom:
    """What is changed at once.

    Attributes:
        columns: Its parameters.
        directions: In which directions of them, shape (directions, columns): all, or those that keep a rotor balanced.
        readings: What of a change of the parameters goes along each direction, the same shape.
        touches: What it may have in common with others: then they are changed in different rounds.
    """

    columns: range
    directions: np.ndarray
    readings: np.ndarray
    touches: frozenset[tuple[str, int]]


@once
def inertial_map(model: ClusterModel) -> InertialMap:
    """Return the map of a model; made once.

    Raises:
        NotAvailableError: Some number of the tables is no affine function of the parameters.
    """
    own, _ = parameters(model)
    numbers = _Numbers(model, own)
    base = numbers(np.zeros(own.size))
    columns: dict[int, np.ndarray] = {}  # of the matrix: change of the numbers per parameter
    for round_ in _rounds(_atoms(model)):
        owner = _owners(numbers, base, round_, own.size)
        for k in range(max(len(atom.directions) for atom in round_)):
            change = np.zeros(own.size)
            for atom in round_:
                if k < len(atom.directions):
                    change[atom.columns] = _STEP * atom.directions[k]
            moved = (numbers(change) - base) / _STEP
            for i, atom in enumerate(round_):
                if k < len(atom.directions):
                    mine = np.where(owner == i, moved, 0.0)
                    for column, reading in zip(atom.columns, atom.readings[k].tolist(), strict=True):
                        if reading:
                            columns[column] = columns.get(column, 0.0) + reading * mine
    for column, part in _rods(model, own, numbers):
        columns[column] = part
    matrix = np.stack([columns.get(i, np.zeros(base.size)) for i in range(own.size)], axis=-1)
    scale = np.abs(matrix).max(axis=1, initial=1.0)
    matrix[np.abs(matrix) < 1e-13 * scale[:, None]] = 0.0
    matrix[numbers.limits] = 0.0
    constant = numbers.about_origins(numbers_of(model)) - matrix @ own
    constant[np.abs(constant) < 1e-14 * np.maximum(1.0, np.abs(matrix) @ np.abs(own))] = 0.0
    to, of = np.nonzero(matrix)
    found = InertialMap(int(model.tables.index[0, 0]), constant, to, of, matrix[to, of])
    _check(model, numbers, found, own)
    return found


class _Numbers:
    """The numbers of the tables as a function of the change of the parameters from a base that has mass everywhere.

    Attributes:
        limits: Which numbers are limits of what counts as no inertia: they stay as they are.
    """

    def __init__(self, model: ClusterModel, own: np.ndarray) -> None:
        self.model, self.columns = model, parameter_columns(model)
        self.base = own.copy()
        bodies = 10 * self.columns.bodies
        for entry in (0, 4, 6, 9):  # Pinocchio takes no inertia that is not positive
            self.base[entry:bodies:10] += 1.0
        self.locked = np.zeros((model.own_tree.njoints, 10))
        for r in self.columns.rotors:
            if r.inertia is not None and r.carrier_id:
                self.locked[r.carrier_id] += r.placement.act(r.inertia).toDynamicParameters()
        index, at = model.tables.index, Cluster._fields.index("smallest")
        self.limits = index[index[0, 1] : index[0, 2], at]

    def __call__(self, change: np.ndarray) -> np.ndarray:
        x, columns = self.base + change, self.columns
        bodies = x[: 10 * columns.bodies].reshape(-1, 10)
        inertias = [pin.Inertia.Zero()]
        inertias += [_inertia(body - locked) for body, locked in zip(bodies, self.locked[1:], strict=True)]
        armature = np.array(self.model.own_tree.armature)
        armature[list(columns.armatures)] = x[columns.armatures_from : columns.rods_from]
        axial = {id(r.source): float(y) for r, y in zip(columns.rotors, x[columns.rotors_from :], strict=False)}
        return self.about_origins(repacked(self.model, inertias, armature, axial))

    def about_origins(self, numbers: np.ndarray) -> np.ndarray:
        """Return the numbers with first moments in the place of centres, and inertias about origins."""
        found = numbers.copy()
        for moment, inertia in _bodies(found, int(self.model.tables.index[0, 0])):
            inertia += moment[0] * _of_point(moment[1:])
            moment[1:] *= moment[0]
        return found


def _inertia(x: np.ndarray) -> pin.Inertia:
    """Return a body's inertia from its ten parameters, whatever they are."""
    mass, h = float(x[0]), x[1:4]
    about_origin = np.array([[x[4], x[5], x[7]], [x[5], x[6], x[8]], [x[7], x[8], x[9]]])
    lever = h / mass
    return pin.Inertia(mass, lever, about_origin + mass * pin.skew(lever) @ pin.skew(lever))


def _atoms(model: ClusterModel) -> list[_Atom]:
    """List bodies, rotors and armatures."""
    tree, columns, atoms = model.own_tree, parameter_columns(model), []
    spinning = {r.joint_id: r for r in model.rotors if r.spins and r.joint_id is not None}
    home = {
        iv: k
        for k, joints in enumerate(model.tables.topology.clusters)
        for j in joints
        for iv in range(tree.idx_vs[j], tree.idx_vs[j] + tree.nvs[j])
    }
    for j in range(1, tree.njoints):
        own = range(10 * j - 10, 10 * j)
        if j not in spinning:
            atoms.append(_Atom(own, np.eye(10), np.eye(10), frozenset({("body", j)})))
            continue
        axis = joint_axis(tree.joints[j])
        assert axis is not None
        directions, readings = _balanced(axis)
        at = {("body", spinning[j].carrier_id), ("cluster", home[tree.idx_vs[j]])}
        at |= {("cluster", home[iv]) for iv, _ in spinning[j].drivers}
        atoms.append(_Atom(own, directions, readings, frozenset(at)))
    one = np.ones((1, 1))
    for i, r in enumerate(columns.rotors, columns.rotors_from):
        at = {("body", r.carrier_id), *(("cluster", home[iv]) for iv, _ in r.drivers)}
        atoms.append(_Atom(range(i, i + 1), one, one, frozenset(at)))
    for i, iv in enumerate(columns.armatures, columns.armatures_from):
        atoms.append(_Atom(range(i, i + 1), one, one, frozenset({("cluster", home[iv])})))
    return atoms


def _balanced(axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the changes that leave a rotor balanced about an axis, and what of any change goes along each.

    They are mass, first moment along the axis, inertia about it, and the same inertia about all axes across it.
    """
    along, across = np.outer(axis, axis), np.eye(3) - np.outer(axis, axis)
    entries = ([0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2])
    twice = np.array([1.0, 2.0, 1.0, 2.0, 2.0, 1.0])  # what is not on the diagonal stands there twice
    directions, readings = np.zeros((4, 10)), np.zeros((4, 10))
    directions[0, 0] = readings[0, 0] = 1.0
    directions[1, 1:4] = readings[1, 1:4] = axis
    for k, (one, share) in enumerate(((along, 1.0), (across, 0.5)), 2):
        directions[k, 4:], readings[k, 4:] = one[entries], share * twice * one[entries]
    return directions, readings


def _rounds(atoms: list[_Atom]) -> list[list[_Atom]]:
    """Distribute atoms to rounds in which none touches what another does."""
    rounds: list[list[_Atom]] = []
    for atom in atoms:
        free = (round_ for round_ in rounds if not any(atom.touches & other.touches for other in round_))
        found = next(free, None)
        if found is None:
            rounds.append([atom])
        else:
            found.append(atom)
    return rounds


def _owners(numbers: Callable[[np.ndarray], np.ndarray], base: np.ndarray, atoms: list[_Atom], size: int) -> np.ndarray:
    """Return for each number which atom it depends on, -1 for none: from two changes by unequal parts."""
    rng = np.random.default_rng(0)
    once, parts = np.zeros(size), np.zeros(size)
    for i, atom in enumerate(atoms):
        along = _some(rng, atom)
        once[atom.columns] = along
        parts[atom.columns] = along * (1.0 + (i + 1.0) / len(atoms))
    first, second = numbers(once) - base, numbers(parts) - base
    moves = np.abs(first) > 1e-12
    ratio = np.divide(second, first, out=np.ones_like(first), where=moves)
    found = np.rint((ratio - 1.0) * len(atoms)).astype(int) - 1
    found[~moves] = -1
    return found


def _some(rng: np.random.Generator, atom: _Atom) -> np.ndarray:
    """Return a small change along all directions of an atom."""
    return 0.5 * _STEP * rng.uniform(0.5, 1.0, size=len(atom.directions)) @ atom.directions


def _rods(model: ClusterModel, own: np.ndarray, numbers: _Numbers) -> list[tuple[int, np.ndarray]]:
    """Return the change of the numbers with the mass of each rod."""
    columns, found = parameter_columns(model), []
    for i, rod in enumerate(columns.rods, columns.rods_from):
        other = rod.source.with_mass(2.0 * own[i])
        constraints = tuple(other if c is rod.source else c for c in model.constraints)
        heavier = alike(model, constraints=constraints)
        change = numbers.about_origins(numbers_of(heavier)) - numbers.about_origins(numbers_of(model))
        found.append((i, change / own[i]))
    return found


def _check(model: ClusterModel, numbers: _Numbers, found: InertialMap, own: np.ndarray) -> None:
    """Change everything that may be changed, and compare."""
    rng = np.random.default_rng(1)
    change = np.zeros(own.size)
    for atom in _atoms(model):
        change[atom.columns] = _some(rng, atom)
    right, guess = numbers(change), numbers.about_origins(found.apply(numbers.base + change))
    wrong = np.abs(right - guess) > _ROUNDING * np.maximum(1.0, np.abs(right).max())
    wrong[numbers.limits] = False
    if wrong.any():
        raise NotAvailableError(
            f"model {model.name!r}: {int(wrong.sum())} numbers of its tables are no affine functions of its inertial "
            "parameters, so these cannot be inputs. Trace one program per set of parameters: pc.with_parameters."
        )
