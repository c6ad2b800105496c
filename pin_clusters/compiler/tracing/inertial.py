"""The affine map from a model's inertial parameters to the entries of its tables, determined by perturbation.

The tables contain centres of mass, which are not affine in the parameters. The map therefore yields inertias about the
body origins, and first moments of mass. The bodies are perturbed in several rounds, so that no entry depends on two
bodies of the same round. The size of the perturbation differs between bodies; the change of an entry therefore shows on
which body the entry depends. Finally, all parameters are perturbed at once to check the map.
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

_ROUNDING = 1e-11  # allowed error, relative to the largest number
_STEP = 0.1  # perturbation [kg], [kg m], [kg m^2]; smaller than the 1.0 that ``_Numbers`` adds to masses and inertias


@dataclass(frozen=True)
class InertialMap:
    """Affine map from inertial parameters to the entries of the tables, called numbers.

    ``numbers`` begins as ``constant``. Each term k adds ``coefficients[k] * parameters[of[k]]`` to ``numbers[to[k]]``.
    Finally, first moments are converted to centres of mass, and inertias to inertias about these centres.
    """

    bodies: int  # number of bodies in the tables
    constant: np.ndarray  # shape (numbers,)
    to: np.ndarray  # index of the number, shape (terms,)
    of: np.ndarray  # index of the parameter, shape (terms,)
    coefficients: np.ndarray  # shape (terms,)

    def apply(self, values: np.ndarray) -> np.ndarray:
        numbers = self.constant.astype(values.dtype)
        for to, of, c in zip(self.to.tolist(), self.of.tolist(), self.coefficients.tolist(), strict=True):
            numbers[to] = numbers[to] + values[of] * c
        for moment, inertia in _bodies(numbers, self.bodies):
            if isinstance(moment[0], Expression) or moment[0] != 0.0:
                # A body without mass has no centre of mass; dividing by 1 leaves zeros in place of the centre.
                moment[1:] = moment[1:] / select(0.0, moment[0], moment[0], 1.0)
                inertia -= moment[0] * _of_point(moment[1:])
        return numbers


def _bodies(numbers: np.ndarray, count: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for b in range(1, count + 1):
        first = b * BODY_PARAMS
        yield numbers[first + MASS : first + INERTIA], numbers[first + INERTIA : first + INERTIA + 6]


def _of_point(x: np.ndarray) -> np.ndarray:
    """Return the inertia of a unit mass at point x about the origin: entries xx, xy, xz, yy, yz, zz."""
    a, b, c = x
    return np.array([b * b + c * c, -a * b, -a * c, a * a + c * c, -b * c, a * a + b * b])


@dataclass(frozen=True)
class _Atom:
    """A group of parameters that are perturbed together, such as the ten parameters of a body.

    Attributes:
        columns: Indices of the parameters.
        directions: Perturbations in parameter space, shape (directions, columns); they keep a rotor balanced.
        readings: Matrix that maps a parameter change to its components along the directions, same shape.
        touches: Bodies and clusters that the parameters may affect; groups with a common one are perturbed separately.
    """

    columns: range
    directions: np.ndarray
    readings: np.ndarray
    touches: frozenset[tuple[str, int]]


@once
def inertial_map(model: ClusterModel) -> InertialMap:
    values, _ = parameters(model)
    numbers = _Numbers(model, values)
    base = numbers(np.zeros(values.size))
    columns: dict[int, np.ndarray] = {}  # derivative of the numbers with respect to parameter i
    for round_ in _rounds(_atoms(model)):
        owner = _owners(numbers, base, round_, values.size)
        for k in range(max(len(atom.directions) for atom in round_)):
            change = np.zeros(values.size)
            for atom in round_:
                if k < len(atom.directions):
                    change[atom.columns] = _STEP * atom.directions[k]
            moved = (numbers(change) - base) / _STEP
            for i, atom in enumerate(round_):
                if k < len(atom.directions):
                    changed = np.where(owner == i, moved, 0.0)
                    for column, reading in zip(atom.columns, atom.readings[k].tolist(), strict=True):
                        if reading:
                            columns[column] = columns.get(column, 0.0) + reading * changed
    for column, part in _rods(model, values, numbers):
        columns[column] = part
    matrix = np.stack([columns.get(i, np.zeros(base.size)) for i in range(values.size)], axis=-1)
    scale = np.abs(matrix).max(axis=1, initial=1.0)
    matrix[np.abs(matrix) < 1e-13 * scale[:, None]] = 0.0
    matrix[numbers.limits] = 0.0
    constant = numbers.about_origins(numbers_of(model)) - matrix @ values
    constant[np.abs(constant) < 1e-14 * np.maximum(1.0, np.abs(matrix) @ np.abs(values))] = 0.0
    to, of = np.nonzero(matrix)
    result = InertialMap(int(model.tables.index[0, 0]), constant, to, of, matrix[to, of])
    _check(model, numbers, result, values)
    return result


class _Numbers:
    """Computes the numbers of the tables for a parameter change; if the change is zero, all masses are positive."""

    def __init__(self, model: ClusterModel, own: np.ndarray) -> None:
        self.model, self.columns = model, parameter_columns(model)
        self.base = own.copy()
        bodies = 10 * self.columns.bodies
        for entry in (0, 4, 6, 9):  # Pinocchio accepts only positive inertias.
            self.base[entry:bodies:10] += 1.0
        self.locked = np.zeros((model.own_tree.njoints, 10))
        for r in self.columns.rotors:
            if r.inertia is not None and r.carrier_id:
                self.locked[r.carrier_id] += r.placement.act(r.inertia).toDynamicParameters()
        index, field = model.tables.index, Cluster._fields.index("smallest")
        self.limits = index[index[0, 1] : index[0, 2], field]  # constant thresholds for zero inertia

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
        """Convert centres of mass to first moments of mass, and inertias to inertias about the body origins."""
        converted = numbers.copy()
        for moment, inertia in _bodies(converted, int(self.model.tables.index[0, 0])):
            inertia += moment[0] * _of_point(moment[1:])
            moment[1:] *= moment[0]
        return converted


def _inertia(x: np.ndarray) -> pin.Inertia:
    """Return the inertia of a body, given its ten parameters, which need not be physically consistent."""
    mass, h = float(x[0]), x[1:4]
    about_origin = np.array([[x[4], x[5], x[7]], [x[5], x[6], x[8]], [x[7], x[8], x[9]]])
    lever = h / mass
    return pin.Inertia(mass, lever, about_origin + mass * pin.skew(lever) @ pin.skew(lever))


def _atoms(model: ClusterModel) -> list[_Atom]:
    tree, columns, atoms = model.own_tree, parameter_columns(model), []
    spinning = {r.joint_id: r for r in model.rotors if r.spins and r.joint_id is not None}
    home = {
        iv: k
        for k, joints in enumerate(model.tables.topology.clusters)
        for j in joints
        for iv in range(tree.idx_vs[j], tree.idx_vs[j] + tree.nvs[j])
    }
    for j in range(1, tree.njoints):
        columns_of_body = range(10 * j - 10, 10 * j)
        if j not in spinning:
            atoms.append(_Atom(columns_of_body, np.eye(10), np.eye(10), frozenset({("body", j)})))
            continue
        axis = joint_axis(tree.joints[j])
        assert axis is not None
        directions, readings = _balanced(axis)
        touched = {("body", spinning[j].carrier_id), ("cluster", home[tree.idx_vs[j]])}
        touched |= {("cluster", home[iv]) for iv, _ in spinning[j].drivers}
        atoms.append(_Atom(columns_of_body, directions, readings, frozenset(touched)))
    identity = np.ones((1, 1))
    for i, r in enumerate(columns.rotors, columns.rotors_from):
        touched = {("body", r.carrier_id), *(("cluster", home[iv]) for iv, _ in r.drivers)}
        atoms.append(_Atom(range(i, i + 1), identity, identity, frozenset(touched)))
    for i, iv in enumerate(columns.armatures, columns.armatures_from):
        atoms.append(_Atom(range(i, i + 1), identity, identity, frozenset({("cluster", home[iv])})))
    return atoms


def _balanced(axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return ``directions`` and ``readings`` of the ``_Atom`` of a rotor, which must stay balanced about its axis.

    The four directions change the mass, the first moment along the axis, the inertia about the axis, and the inertia
    about all perpendicular axes (equally), respectively.
    """
    along, across = np.outer(axis, axis), np.eye(3) - np.outer(axis, axis)
    entries = ([0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2])
    twice = np.array([1.0, 2.0, 1.0, 2.0, 2.0, 1.0])  # off-diagonal entries occur twice in the matrix
    directions, readings = np.zeros((4, 10)), np.zeros((4, 10))
    directions[0, 0] = readings[0, 0] = 1.0
    directions[1, 1:4] = readings[1, 1:4] = axis
    for k, (projection, share) in enumerate(((along, 1.0), (across, 0.5)), 2):
        directions[k, 4:], readings[k, 4:] = projection[entries], share * twice * projection[entries]
    return directions, readings


def _rounds(atoms: list[_Atom]) -> list[list[_Atom]]:
    rounds: list[list[_Atom]] = []
    for atom in atoms:
        free = (round_ for round_ in rounds if not any(atom.touches & member.touches for member in round_))
        fitting = next(free, None)
        if fitting is None:
            rounds.append([atom])
        else:
            fitting.append(atom)
    return rounds


def _owners(numbers: Callable[[np.ndarray], np.ndarray], base: np.ndarray, atoms: list[_Atom], size: int) -> np.ndarray:
    """Return, for each number, the index of the ``_Atom`` that affects it (-1: none), using two perturbations."""
    rng = np.random.default_rng(0)
    single, weighted = np.zeros(size), np.zeros(size)
    for i, atom in enumerate(atoms):
        along = _some(rng, atom)
        single[atom.columns] = along
        weighted[atom.columns] = along * (1.0 + (i + 1.0) / len(atoms))
    first, second = numbers(single) - base, numbers(weighted) - base
    moves = np.abs(first) > 1e-12
    ratio = np.divide(second, first, out=np.ones_like(first), where=moves)
    owners = np.rint((ratio - 1.0) * len(atoms)).astype(int) - 1
    owners[~moves] = -1
    return owners


def _some(rng: np.random.Generator, atom: _Atom) -> np.ndarray:
    return 0.5 * _STEP * rng.uniform(0.5, 1.0, size=len(atom.directions)) @ atom.directions


def _rods(model: ClusterModel, own: np.ndarray, numbers: _Numbers) -> list[tuple[int, np.ndarray]]:
    columns, changes = parameter_columns(model), []
    for i, rod in enumerate(columns.rods, columns.rods_from):
        heavier_rod = rod.source.with_mass(2.0 * own[i])
        constraints = tuple(heavier_rod if c is rod.source else c for c in model.constraints)
        heavier = alike(model, constraints=constraints)
        change = numbers.about_origins(numbers_of(heavier)) - numbers.about_origins(numbers_of(model))
        changes.append((i, change / own[i]))
    return changes


def _check(model: ClusterModel, numbers: _Numbers, found: InertialMap, own: np.ndarray) -> None:
    """Compare the map with the tables after a change of all parameters; raise an error if they differ."""
    rng = np.random.default_rng(1)
    change = np.zeros(own.size)
    for atom in _atoms(model):
        change[atom.columns] = _some(rng, atom)
    right, guess = numbers(change), numbers.about_origins(found.apply(numbers.base + change))
    wrong = np.abs(right - guess) > _ROUNDING * np.maximum(1.0, np.abs(right).max())
    wrong[numbers.limits] = False
    if wrong.any():
        raise NotAvailableError(
            f"model {model.name!r}: {int(wrong.sum())} entries of its tables are not affine in the inertial "
            "parameters, so these parameters cannot be inputs. Use pc.with_parameters, and trace one program for each "
            "set of parameters."
        )
