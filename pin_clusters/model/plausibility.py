"""Rotor data that cannot be, or that look like a slip of units: compared with the links about them at build.

A rotor that is given by its axial inertia is a part of its carrier's link. With I_c the inertia of that link about its
centre of mass, the kinetic energy is that of the rest of the link, I_c - sum(I_k a_k a_k'), and of the rotors by
themselves: it is never negative if, and where everything moves only if, that rest is not.
"""

import warnings
from collections.abc import Iterator, Sequence

import numpy as np
import pinocchio as pin

from .._support.arrays import in_order
from .._support.trees import in_v, joint_in_v, slides
from ..constraints.closures import Closure, massive
from ..errors import InertiaError, PinClustersWarning
from .elements import RotorElement
from .topology import Topology
from .trees import inertia_tree_of

UNITS = "An inertia is in kg m^2: 1 g cm^2 = 1e-7 kg m^2, 1 kg cm^2 = 1e-4 kg m^2."
# Reflected inertia by the inertia that is moved, and the rotor's own by the same: a slip has one of these pairs. Motors
# turn links of some to a thousand times their own inertia at wrists and knees, of more near the base. A small motor on
# a finger, at a ratio of hundreds, has no less than what it moves and reflects 1e4 times that.
_SLIPS = (1e3, 30.0), (1e5, 3.0), (1e7, 0.0)
_NOTHING = 1e-9
_GYRATION = 1e-4, 0.5  # [m], from the rotor of a watch to a ring of a metre
_EQUAL = 1e-3  # armature and reflected inertia of the same motor, to three digits
_ROUNDING = 1e-9
_TRIES, _CHUNK = 6, 256


def check_rotors(tree: pin.Model, rotors: Sequence[RotorElement], topology: Topology) -> None:
    """Refuse rotors that leave no positive mass matrix, and warn of those that look like a slip of units."""
    turning = [r for r in rotors if r.axial_inertia > 0.0 and (r.spins or r.source is not None)]
    if not turning:
        return
    told = [*_too_much(tree, rotors, topology), *_sizes(turning), *_reflected(tree, turning, topology)]
    told += _counted_twice(tree, turning)
    for text in told:
        warnings.warn(text, PinClustersWarning, stacklevel=3)


def overweight(tree: pin.Model, rotors: Sequence[RotorElement]) -> list[tuple[RotorElement, float]]:
    """Return rotors that are said to be a part of a link that cannot hold them, worst first, and the most that it can.

    That is the largest axial inertia of one rotor about its axis, [kg m^2].
    """
    found = []
    for carrier in sorted({r.carrier_id for r in rotors if _is_part(r)}):
        link = np.array(tree.inertias[carrier].inertia)
        own = [r for r in rotors if _is_part(r) and r.carrier_id == carrier]
        rest = link - sum(r.axial_inertia * np.outer(r.axis, r.axis) for r in own)
        scale = max(np.abs(link).max(), max(r.axial_inertia for r in own))
        if np.linalg.eigvalsh(rest)[0] < -_ROUNDING * scale:
            found += [(r, _room(link, r.axis)) for r in own]
    return sorted(found, key=lambda x: x[1] / x[0].axial_inertia)


def _room(link: np.ndarray, axis: np.ndarray) -> float:
    """Return the largest x for which link - x axis axis' is not indefinite."""
    values, vectors = np.linalg.eigh(link)
    along = (vectors.T @ axis) ** 2
    least = _ROUNDING * max(float(values[-1]), 0.0)
    if any(a > _ROUNDING and x <= least for a, x in zip(along, values, strict=True)):
        return 0.0
    return float(1.0 / in_order(a / x for a, x in zip(along, values, strict=True) if x > least))


def _is_part(r: RotorElement) -> bool:
    return r.source is not None and r.inertia is None and r.carrier_id > 0 and r.axial_inertia > 0.0


# --- a mass matrix that is none ---------------------------------------------------------------------------------------


def _too_much(tree: pin.Model, rotors: Sequence[RotorElement], topology: Topology) -> Iterator[str]:
    found = overweight(tree, rotors)
    if not found:
        return
    poses = [topology.q_reference]
    if not topology.closures:  # other poses of loops are not known here
        random = np.random.default_rng(0)
        turns = random.uniform(-np.pi, np.pi, (_TRIES, tree.nv))
        poses += [np.asarray(pin.integrate(tree, poses[0], turn)) for turn in turns]
    more = "".join(f"; {r.name!r} has {r.axial_inertia:g}, {r.carrier!r} room for {x:.3g}" for r, x in found[1:4])
    r, room = found[0]
    what = (
        f"{r.source.label}: axial_inertia is {r.axial_inertia:g} kg m^2, but the link of its carrier {r.carrier!r}, of "
        f"which it is a part, can hold {room:.3g} kg m^2 about the rotor's axis{more}"
    )
    cure = (
        f"{UNITS} If the number is right, the link is without its rotor: give inertia=pin.Inertia(...), which is added "
        "to the carrier, or name another carrier=."
    )
    if any(_lowest(_mass_matrix(tree, rotors, topology, x)) < -_ROUNDING for x in poses):
        raise InertiaError(f"{what}: the mass matrix is not positive definite. {cure}")
    link = float(r.axis @ tree.inertias[r.carrier_id].inertia @ r.axis)
    rotors_of_link = sum(x.axial_inertia * float(x.axis @ r.axis) ** 2 for x, _ in found if x.carrier == r.carrier)
    # massless links between joints carry rotors in many models, and others have no thickness
    if 0.0 < link < rotors_of_link:
        yield f"{what}. No body has less inertia than a part of it. {cure}"


def _lowest(M: np.ndarray) -> float:
    """Return the least eigenvalue of a mass matrix, each velocity scaled so that its own entry is 1 (or -1, 0)."""
    scale = np.sqrt(np.abs(np.diag(M)))
    scale[scale == 0.0] = 1.0
    return float(np.linalg.eigvalsh(M / np.outer(scale, scale))[0])


def _mass_matrix(tree: pin.Model, rotors: Sequence[RotorElement], topology: Topology, q: np.ndarray) -> np.ndarray:
    """Return an upper bound of the mass matrix: rods with half of their middle at each end, else it is exact."""
    G, n = topology.G, topology.G.shape[1]
    lumped = _lumped(tree, rotors, topology.closures)
    M = np.asarray(G.T * lumped.armature @ G)
    spinning = [r for r in rotors if r.source is not None]
    w = np.zeros((len(spinning), n))
    for j, V in _velocities(lumped, G, q):
        M += V.T @ lumped.inertias[j].matrix() @ V
        for k, r in enumerate(spinning):
            if r.carrier_id == j:
                w[k] = r.axis @ V[3:]
    for r, turn in zip(spinning, w, strict=True):
        mixed = np.outer(r.row, turn)
        M += r.axial_inertia * (np.outer(r.row, r.row) + mixed + mixed.T)
    return M


def _lumped(tree: pin.Model, rotors: Sequence[RotorElement], closures: Sequence[Closure]) -> pin.Model:
    lumped = inertia_tree_of(tree, rotors, closures)
    for rod in massive(closures):
        for j, p in rod.ends:
            if j:
                lumped.inertias[j] = lumped.inertias[j] + pin.Inertia(rod.mass / 3.0, p, np.zeros((3, 3)))
    return lumped


def _velocities(tree: pin.Model, G: np.ndarray, q: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Yield each joint and the velocities of its body, shape (6, columns), for the velocities G of the tree.

    A ``pin.Data`` would tell them as well, and take gigabytes of a large tree.
    """
    kept = {0: np.zeros((6, G.shape[1]))}
    children = {int(p) for p in tree.parents}
    for j in range(1, tree.njoints):
        joint = tree.joints[j]
        data = joint.createData()
        joint.calc(data, q)
        at = tree.jointPlacements[j] * data.M
        S = np.asarray(data.S, dtype=float).reshape(6, -1)
        V = at.toActionMatrixInverse() @ kept[tree.parents[j]] + S @ G[list(in_v(tree, j))]
        if j in children:
            kept[j] = V
        yield j, V


# --- slips of units ---------------------------------------------------------------------------------------------------


def _sizes(rotors: Sequence[RotorElement]) -> Iterator[str]:
    low, high = _GYRATION
    for r in rotors:
        if r.inertia is None or not r.inertia.mass > 0.0:
            continue
        radius = float(np.sqrt(r.axial_inertia / r.inertia.mass))
        if not low <= radius <= high:
            yield (
                f"{_label(r)}: {r.axial_inertia:g} kg m^2 about the axis and {r.inertia.mass:g} kg are a radius of "
                f"gyration of {radius:.3g} m; {low * 1e3:g} mm to {high:g} m would be plausible, which is "
                f"{r.inertia.mass * low**2:.2g} to {r.inertia.mass * high**2:.2g} kg m^2. {UNITS}"
            )


def _reflected(tree: pin.Model, rotors: Sequence[RotorElement], topology: Topology) -> Iterator[str]:
    moved = _moved(tree, rotors, topology)
    slips: list[tuple[RotorElement, int, float]] = []
    for r in rotors:
        # loops may be where a joint does not turn its rotor, up to rounding
        least = 1e-6 * max(abs(ratio) for _, ratio in r.drivers)
        used = [i for i in np.flatnonzero(np.abs(r.row) > least) if moved[i] > 0.0]
        if not used:
            continue
        # at a joint that drives several things, that of which it is the most
        shares = [float(r.row[i]) ** 2 * r.axial_inertia / moved[i] for i in used]
        best = int(np.argmax(shares))
        share, own = shares[best], r.axial_inertia / moved[used[best]]
        if share < _NOTHING or any(share > a and own > b for a, b in _SLIPS):
            slips.append((r, int(used[best]), share))
    if not slips:
        return
    r, i, share = slips[0]
    least = moved[i] / float(r.row[i]) ** 2
    iv = int(topology.independent[i])
    j = joint_in_v(tree, iv)
    others = ", ".join(repr(x.name) for x, _, _ in slips[1:6]) + (", ..." if len(slips) > 6 else "")
    yield (
        f"{_label(r)}: {r.axial_inertia:g} kg m^2 at the ratio {r.row[i]:g} is {share:.2g} times the inertia "
        f"({moved[i]:.3g} {'kg' if slides(tree, j) else 'kg m^2'}) of all that joint {tree.names[j]!r} moves. Rotors "
        f"are {1e-3 * least:.1g} to {10.0 * least:.1g} kg m^2 there, as a rule. {UNITS}"
        + (f" The same of {others}." if others else "")
    )


def _moved(tree: pin.Model, rotors: Sequence[RotorElement], topology: Topology) -> np.ndarray:
    """Return what each independent velocity moves alone, with all rotors locked, shape (nv,)."""
    lumped = _lumped(tree, rotors, topology.closures)
    locked = topology.G.copy()
    for r in rotors:
        if r.joint_id is not None:
            locked[list(in_v(tree, r.joint_id))] = 0.0
    columns = np.flatnonzero(np.any([r.row for r in rotors], axis=0))
    moved = np.zeros(locked.shape[1])
    for start in range(0, len(columns), _CHUNK):
        some = columns[start : start + _CHUNK]
        for j, V in _velocities(lumped, locked[:, some], topology.q_reference):
            moved[some] += np.einsum("ic,ic->c", V, lumped.inertias[j].matrix() @ V)
    return moved


def _counted_twice(tree: pin.Model, rotors: Sequence[RotorElement]) -> Iterator[str]:
    for r in rotors:
        if r.source is not None and r.source.armature == "replace":
            continue
        for iv, ratio in r.drivers:
            armature, reflected = float(tree.armature[iv]), ratio**2 * r.axial_inertia
            if armature > 0.0 and abs(reflected - armature) <= _EQUAL * armature:
                cure = "say armature='replace'" if r.source is not None else "set the joint's armature to 0"
                name = tree.names[joint_in_v(tree, iv)]
                yield (
                    f"{_label(r)}: at the ratio {ratio:g} it reflects {reflected:.4g} kg m^2 to joint "
                    f"{name!r}, which has armature {armature:.4g} in the tree besides: the same inertia, "
                    f"counted twice? If so, {cure}."
                )


def _label(r: RotorElement) -> str:
    return str(r.source.label) if r.source is not None else f"rotor {r.name!r}"
