"""The entries of a model's tables as polynomials in the transmission ratios, determined by perturbation.

The reflected inertia of a rotor contains squares of ratios, and products of ratios in the same cluster. No entry
depends on two clusters, so all clusters are perturbed at once. Finally, all ratios are changed at once as a check.
"""

import dataclasses
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...constraints import Belt, Gear, Rotor
from ...errors import NotAvailableError, PinClustersError
from ...model import ClusterModel, alike, numbers_of, once

_FACTORS = (1.0, 1.125, 0.875)  # factors by which each ratio is multiplied to obtain samples
_MOST = 4  # maximum number of ratios in a cluster, because 3^4 = 81 models are sampled
_ROUNDING = 1e-11


@dataclass(frozen=True)
class RatioMap:
    """The entries of the tables, called numbers, as polynomials in the ratios."""

    labels: tuple[str, ...]  # name of each ratio
    values: np.ndarray  # ratios of the model, shape (ratios,)
    constant: np.ndarray  # numbers that do not depend on ratios; 0 for all others, shape (numbers,)
    # for each term: index of the number, coefficient, and indices of the ratios to multiply (twice for a square)
    terms: tuple[tuple[int, float, tuple[int, ...]], ...]

    def apply(self, ratios: np.ndarray) -> np.ndarray:
        numbers = self.constant.astype(ratios.dtype)
        for index, c, factors in self.terms:
            x = c
            for i in factors:
                x = ratios[i] * x
            numbers[index] = numbers[index] + x
        return numbers


@dataclass(frozen=True)
class _Place:
    """Location of a ratio: its constraint, its index among the rotor's ratios (-1 for gears, belts), its cluster."""

    constraint: int
    entry: int
    cluster: int
    label: str
    value: float


def _places(model: ClusterModel) -> list[_Place]:
    tree, places = model.own_tree, []
    home = {j: k for k, joints in enumerate(model.tables.topology.clusters) for j in joints}
    rotors = {id(r.source): r for r in model.tables.topology.rotors}
    followers = {id(row.source): row.dependent for row in model.coupling_rows}
    for i, c in enumerate(model.constraints):
        if isinstance(c, Rotor):
            row = rotors[id(c)]
            for entry, (j, ratio) in enumerate(zip(row.joints, row.ratios, strict=True)):
                label = f"{c.label}: ratio" + (f" of {tree.names[j]}" if len(row.joints) > 1 else "")
                places.append(_Place(i, entry, home[j], label, ratio))
        elif isinstance(c, (Gear, Belt)) and id(c) in followers:
            places.append(_Place(i, -1, home[followers[id(c)]], f"{c.label}: ratio", c.ratio))
    return places


def _numbers(model: ClusterModel, places: Sequence[_Place], ratios: Sequence[float]) -> np.ndarray:
    constraints = list(model.constraints)
    for position, ratio in zip(places, ratios, strict=True):
        old = constraints[position.constraint]
        if isinstance(old, Rotor):
            rotor_ratios = [float(x) for x in np.ravel(old.ratios)]
            rotor_ratios[position.entry] = float(ratio)
            constraints[position.constraint] = dataclasses.replace(old, ratios=rotor_ratios)
        else:
            constraints[position.constraint] = dataclasses.replace(old, ratio=float(ratio))
    try:
        changed = alike(model, constraints=tuple(constraints))
    except PinClustersError as error:
        raise NotAvailableError(
            f"model {model.name!r} cannot be built with other ratios, so ratios cannot be inputs: {error}"
        ) from error
    if not np.array_equal(changed.tables.index, model.tables.index):
        raise NotAvailableError(
            f"model {model.name!r}: ratios cannot be inputs, because a ratio is exactly 1 or -1, which changes the "
            "structure of the tables. Change this ratio by one part in a million."
        )
    return numbers_of(changed)


@once
def ratio_map(model: ClusterModel) -> RatioMap:
    places = _places(model)
    ratios = np.array([position.value for position in places])
    groups = [[i for i, p in enumerate(places) if p.cluster == c] for c in dict.fromkeys(p.cluster for p in places)]
    width = max(map(len, groups), default=0)
    if width > _MOST:
        raise NotAvailableError(
            f"model {model.name!r}: a cluster has {width} ratios; at most {_MOST} per cluster can be inputs."
        )
    grid = list(itertools.product(range(3), repeat=width))
    samples = {}
    for node in grid:
        factors = np.ones(len(places))
        for group in groups:
            factors[group] = [_FACTORS[k] for k in node[: len(group)]]
        samples[node] = _numbers(model, places, factors * ratios)
    base = samples[(0,) * width]
    moved = np.zeros(base.size, dtype=bool)
    for x in samples.values():
        moved |= np.abs(x - base) > 1e-14 * np.abs(base)
    owner = _owners(model, places, groups, ratios, base, moved)
    terms: list[tuple[int, float, tuple[int, ...]]] = []
    for k, members in enumerate(groups):
        indices = np.flatnonzero(moved & (owner == k))
        n = len(members)
        zeros = (0,) * (width - n)
        corner = [node for node in grid if node[n:] == zeros]
        values = np.array([samples[node][indices] for node in corner])
        powers = [node[:n] for node in corner]
        matrix = np.array(
            [
                [np.prod([_FACTORS[i] ** p for i, p in zip(node, power, strict=False)]) for power in powers]
                for node in corner
            ]
        )
        solution = np.linalg.solve(matrix, values)
        small = np.abs(solution) < 1e-11 * np.abs(values).max(axis=0, initial=1e-300)
        for power, row in zip(powers, np.where(small, 0.0, solution), strict=True):
            multiplied = tuple(i for i, p in zip(members, power, strict=True) for _ in range(p))
            scale = float(np.prod(ratios[list(multiplied)])) if multiplied else 1.0
            terms += [(int(to), float(c) / scale, multiplied) for to, c in zip(indices, row, strict=True) if c]
    constant = np.where(moved, 0.0, base)
    result = RatioMap(tuple(p.label for p in places), ratios, constant, tuple(terms))
    factors = np.random.default_rng(2).uniform(0.8, 1.2, size=ratios.size)
    right, guess = _numbers(model, places, factors * ratios), result.apply(factors * ratios)
    if np.abs(right - guess).max(initial=0.0) > _ROUNDING * max(1.0, float(np.abs(right).max(initial=0.0))):
        raise NotAvailableError(
            f"model {model.name!r}: entries of its tables are not polynomials of its ratios, so ratios cannot be "
            "inputs. Possible causes are a belt whose link follows its rotor, and ratios in a loop. Trace one program "
            "for each set of ratios."
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
    """Return, for each changed number, the group that affects it; perturb half of the groups at a time (bisection)."""
    owner = np.zeros(base.size, dtype=int)
    for bit in range(max(1, (len(groups) - 1).bit_length())):
        factors = np.ones(len(places))
        for k, group in enumerate(groups):
            if k >> bit & 1:
                factors[group] = 1.0 + 0.1 * np.random.default_rng(bit).uniform(0.5, 1.0, size=len(group))
        changed = np.abs(_numbers(model, places, factors * own) - base) > 1e-14 * np.abs(base)
        owner |= (changed & moved).astype(int) << bit
    return owner
