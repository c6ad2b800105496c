"""How the numbers of a model's tables depend on the ratios of its transmissions: polynomials, found by changing them.

Up to squares of each ratio occur, as in the inertia of a rotor, and products of the ratios of one cluster. Clusters do
not share numbers, so all are changed at once; another change of everything shows whether the polynomials hold.
"""

import dataclasses
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...constraints import Belt, Gear, Rotor
from ...errors import NotAvailableError, PinClustersError
from ...model import ClusterModel, alike, numbers_of, once

_FACTORS = (1.0, 1.125, 0.875)  # by which ratios are multiplied
_MOST = 4  # ratios of one cluster: 81 models are made
_ROUNDING = 1e-11


@dataclass(frozen=True)
class RatioMap:
    """Numbers that are polynomials of ratios."""

    labels: tuple[str, ...]  # of each ratio
    values: np.ndarray  # those of the model
    constant: np.ndarray  # all numbers, shape (numbers,); 0 where they are polynomials
    # number, coefficient, and which ratios are multiplied (one of them twice for its square), of each term
    terms: tuple[tuple[int, float, tuple[int, ...]], ...]

    def apply(self, ratios: np.ndarray) -> np.ndarray:
        """Return the numbers for ratios, which may be expressions."""
        numbers = self.constant.astype(ratios.dtype)
        for at, c, factors in self.terms:
            x = c
            for i in factors:
                x = ratios[i] * x
            numbers[at] = numbers[at] + x
        return numbers


@dataclass(frozen=True)
class _Place:
    """Where a ratio stands: in which of the model's constraints, of which cluster; ``at``: which one of a rotor's."""

    constraint: int
    at: int
    cluster: int
    label: str
    value: float


def _places(model: ClusterModel) -> list[_Place]:
    """List the ratios: of each ``Rotor``, ``Gear`` and ``Belt``, in the order of the constraints."""
    tree, found = model.own_tree, []
    home = {j: k for k, joints in enumerate(model.tables.topology.clusters) for j in joints}
    rotors = {id(r.source): r for r in model.tables.topology.rotors}
    followers = {id(row.source): row.dependent for row in model.coupling_rows}
    for i, c in enumerate(model.constraints):
        if isinstance(c, Rotor):
            row = rotors[id(c)]
            for at, (j, ratio) in enumerate(zip(row.joints, row.ratios, strict=True)):
                label = f"{c.label}: ratio" + (f" of {tree.names[j]}" if len(row.joints) > 1 else "")
                found.append(_Place(i, at, home[j], label, ratio))
        elif isinstance(c, (Gear, Belt)) and id(c) in followers:
            found.append(_Place(i, -1, home[followers[id(c)]], f"{c.label}: ratio", c.ratio))
    return found


def _numbers(model: ClusterModel, places: Sequence[_Place], ratios: Sequence[float]) -> np.ndarray:
    """Return the numbers of the robot with other ratios."""
    constraints = list(model.constraints)
    for place, ratio in zip(places, ratios, strict=True):
        old = constraints[place.constraint]
        if isinstance(old, Rotor):
            mine = [float(x) for x in np.ravel(old.ratios)]
            mine[place.at] = float(ratio)
            constraints[place.constraint] = dataclasses.replace(old, ratios=mine)
        else:
            constraints[place.constraint] = dataclasses.replace(old, ratio=float(ratio))
    try:
        other = alike(model, constraints=tuple(constraints))
    except PinClustersError as error:
        raise NotAvailableError(
            f"model {model.name!r} with other ratios is none, so they are no inputs: {error}"
        ) from error
    if not np.array_equal(other.tables.index, model.tables.index):
        raise NotAvailableError(
            f"model {model.name!r}: a ratio of exactly 1 or -1 has tables of its own, so ratios are no inputs. "
            "Change it by a millionth part."
        )
    return numbers_of(other)


@once
def ratio_map(model: ClusterModel) -> RatioMap:
    """Return the map of a model; made once.

    Raises:
        NotAvailableError: Some number of the tables is no such polynomial.
    """
    places = _places(model)
    own = np.array([place.value for place in places])
    groups = [[i for i, p in enumerate(places) if p.cluster == c] for c in dict.fromkeys(p.cluster for p in places)]
    width = max(map(len, groups), default=0)
    if width > _MOST:
        raise NotAvailableError(
            f"model {model.name!r}: one of its clusters has {width} ratios; up to {_MOST} can be inputs."
        )
    grid = list(itertools.product(range(3), repeat=width))
    seen = {}
    for node in grid:
        factors = np.ones(len(places))
        for group in groups:
            factors[group] = [_FACTORS[k] for k in node[: len(group)]]
        seen[node] = _numbers(model, places, factors * own)
    base = seen[(0,) * width]
    moved = np.zeros(base.size, dtype=bool)
    for x in seen.values():
        moved |= np.abs(x - base) > 1e-14 * np.abs(base)
    owner = _owners(model, places, groups, own, base, moved)
    terms: list[tuple[int, float, tuple[int, ...]]] = []
    for k, members in enumerate(groups):
        at = np.flatnonzero(moved & (owner == k))
        n = len(members)
        rest = (0,) * (width - n)
        corner = [node for node in grid if node[n:] == rest]
        values = np.array([seen[node][at] for node in corner])
        powers = [node[:n] for node in corner]
        matrix = np.array(
            [
                [np.prod([_FACTORS[i] ** p for i, p in zip(node, power, strict=False)]) for power in powers]
                for node in corner
            ]
        )
        found = np.linalg.solve(matrix, values)
        small = np.abs(found) < 1e-11 * np.abs(values).max(axis=0, initial=1e-300)
        for power, row in zip(powers, np.where(small, 0.0, found), strict=True):
            multiplied = tuple(i for i, p in zip(members, power, strict=True) for _ in range(p))
            scale = float(np.prod(own[list(multiplied)])) if multiplied else 1.0
            terms += [(int(to), float(c) / scale, multiplied) for to, c in zip(at, row, strict=True) if c]
    constant = np.where(moved, 0.0, base)
    result = RatioMap(tuple(p.label for p in places), own, constant, tuple(terms))
    factors = np.random.default_rng(2).uniform(0.8, 1.2, size=own.size)
    right, guess = _numbers(model, places, factors * own), result.apply(factors * own)
    if np.abs(right - guess).max(initial=0.0) > _ROUNDING * max(1.0, float(np.abs(right).max(initial=0.0))):
        raise NotAvailableError(
            f"model {model.name!r}: numbers of its tables are no polynomials of its ratios, so these cannot be inputs "
            "(a belt whose link follows its rotor, or ratios inside a loop). Trace one program per set of ratios."
        )
    return result


def _owners(
    model: ClusterModel,
    places: Sequence[_Place],
    groups: list[list[int]],
    own: np.ndarray,
    base: np.ndarray,
    moved: np.ndarray,
) -> np.ndarray:
    """Return of which group each number that moves is, by changing half of the groups at a time."""
    owner = np.zeros(base.size, dtype=int)
    for bit in range(max(1, (len(groups) - 1).bit_length())):
        factors = np.ones(len(places))
        for k, group in enumerate(groups):
            if k >> bit & 1:
                factors[group] = 1.0 + 0.1 * np.random.default_rng(bit).uniform(0.5, 1.0, size=len(group))
        changed = np.abs(_numbers(model, places, factors * own) - base) > 1e-14 * np.abs(base)
        owner |= (changed & moved).astype(int) << bit
    return owner
