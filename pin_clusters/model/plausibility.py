"""Checks rotor inertias when a model is built; detects impossible values and probable mistakes in units.

If only the axial inertia I_k of a rotor k is given, the rotor is a part of its carrier's link. Let I_c be the inertia
of the link about its centre of mass, and a_k the unit axis of rotor k. The kinetic energy is never negative if
I_c - sum(I_k a_k a_k') is positive semidefinite. If all bodies can move, this condition is also necessary.
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

UNITS = "Inertias are in kg m^2: 1 g cm^2 = 1e-7 kg m^2, 1 kg cm^2 = 1e-4 kg m^2."
# Pairs of limits for the reflected inertia and the rotor inertia, both relative to the inertia that the joint moves.
# Values above both limits of a pair indicate a mistake in units. Motors at wrists and knees turn links with up to 1000
# times the inertia of the motor. A finger's motor may have the finger's inertia and a reflected inertia 1e4 times that.
_SLIPS = (1e3, 30.0), (1e5, 3.0), (1e7, 0.0)
_NOTHING = 1e-9
_GYRATION = 1e-4, 0.5  # plausible radii of gyration, [m], from a watch to a ring with a diameter of 1 m
_EQUAL = 1e-3  # relative difference up to which armature and reflected inertia count as equal
_ROUNDING = 1e-9
_TRIES, _CHUNK = 6, 256


def check_rotors(tree: pin.Model, rotors: Sequence[RotorElement], topology: Topology) -> None:
    """Raise ``InertiaError`` if a rotor makes the mass matrix indefinite; warn about probable mistakes in units."""
    turning = [r for r in rotors if r.axial_inertia > 0.0 and (r.spins or r.source is not None)]
    if not turning:
        return
    messages = [*_too_much(tree, rotors, topology), *_sizes(turning), *_reflected(tree, turning, topology)]
    messages += _counted_twice(tree, turning)
    for text in messages:
        warnings.warn(text, PinClustersWarning, stacklevel=3)


def overweight(tree: pin.Model, rotors: Sequence[RotorElement]) -> list[tuple[RotorElement, float]]:
    """Return rotors whose inertia exceeds their link's, worst first, each with its largest valid inertia, [kg m^2]."""
    too_heavy = []
    for carrier in sorted({r.carrier_id for r in rotors if _is_part(r)}):
        link = np.array(tree.inertias[carrier].inertia)
        parts = [r for r in rotors if _is_part(r) and r.carrier_id == carrier]
        remainder = link - sum(r.axial_inertia * np.outer(r.axis, r.axis) for r in parts)
        scale = max(np.abs(link).max(), max(r.axial_inertia for r in parts))
        if np.linalg.eigvalsh(remainder)[0] < -_ROUNDING * scale:
            too_heavy += [(r, _largest_inertia(link, r.axis)) for r in parts]
    return sorted(too_heavy, key=lambda x: x[1] / x[0].axial_inertia)


def _largest_inertia(link: np.ndarray, axis: np.ndarray) -> float:
    """Return the largest x for which ``link - x * axis @ axis.T`` is positive semidefinite."""
    values, vectors = np.linalg.eigh(link)
    along = (vectors.T @ axis) ** 2
    least = _ROUNDING * max(float(values[-1]), 0.0)
    if any(a > _ROUNDING and x <= least for a, x in zip(along, values, strict=True)):
        return 0.0
    return float(1.0 / in_order(a / x for a, x in zip(along, values, strict=True) if x > least))


def _is_part(r: RotorElement) -> bool:
    return r.source is not None and r.inertia is None and r.carrier_id > 0 and r.axial_inertia > 0.0


def _too_much(tree: pin.Model, rotors: Sequence[RotorElement], topology: Topology) -> Iterator[str]:
    too_heavy = overweight(tree, rotors)
    if not too_heavy:
        return
    poses = [topology.q_reference]
    if not topology.closures:  # For closed loops, no other assembled pose is known at this point.
        random = np.random.default_rng(0)
        turns = random.uniform(-np.pi, np.pi, (_TRIES, tree.nv))
        poses += [np.asarray(pin.integrate(tree, poses[0], turn)) for turn in turns]
    listed = "".join(
        f"; {r.name!r} has {r.axial_inertia:g}, {r.carrier!r} can contain {x:.3g}" for r, x in too_heavy[1:4]
    )
    r, largest = too_heavy[0]
    finding = (
        f"{r.source.label}: axial_inertia is {r.axial_inertia:g} kg m^2, but the link of its carrier {r.carrier!r}, "
        f"which includes the rotor, can contain at most {largest:.3g} kg m^2 about the rotor's axis{listed}"
    )
    cure = (
        f"{UNITS} If the number is right, the link does not include its rotor. Then specify inertia=pin.Inertia(...), "
        "which is added to the carrier, or another carrier=."
    )
    if any(_lowest(_mass_matrix(tree, rotors, topology, x)) < -_ROUNDING for x in poses):
        raise InertiaError(f"{finding}. The mass matrix is not positive definite. {cure}")
    link = float(r.axis @ tree.inertias[r.carrier_id].inertia @ r.axis)
    rotors_of_link = sum(x.axial_inertia * float(x.axis @ r.axis) ** 2 for x, _ in too_heavy if x.carrier == r.carrier)
    # Massless links and links without thickness carry rotors in many models, so they cause no warning.
    if 0.0 < link < rotors_of_link:
        yield f"{finding}. A body cannot have less inertia than one of its parts. {cure}"


def _lowest(M: np.ndarray) -> float:
    scale = np.sqrt(np.abs(np.diag(M)))
    scale[scale == 0.0] = 1.0
    return float(np.linalg.eigvalsh(M / np.outer(scale, scale))[0])


def _mass_matrix(tree: pin.Model, rotors: Sequence[RotorElement], topology: Topology, q: np.ndarray) -> np.ndarray:
    """Return the mass matrix; with rods, an upper bound, because a third of the rod's mass is added at each end."""
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
    """Yield each joint and its body's Jacobian, shape (6, nv), without a ``pin.Data``, which could need gigabytes."""
    velocity_of = {0: np.zeros((6, G.shape[1]))}
    children = {int(p) for p in tree.parents}
    for j in range(1, tree.njoints):
        joint = tree.joints[j]
        data = joint.createData()
        joint.calc(data, q)
        placement = tree.jointPlacements[j] * data.M
        S = np.asarray(data.S, dtype=float).reshape(6, -1)
        V = placement.toActionMatrixInverse() @ velocity_of[tree.parents[j]] + S @ G[list(in_v(tree, j))]
        if j in children:
            velocity_of[j] = V
        yield j, V


def _sizes(rotors: Sequence[RotorElement]) -> Iterator[str]:
    low, high = _GYRATION
    for r in rotors:
        if r.inertia is None or not r.inertia.mass > 0.0:
            continue
        radius = float(np.sqrt(r.axial_inertia / r.inertia.mass))
        if not low <= radius <= high:
            yield (
                f"{_label(r)}: {r.axial_inertia:g} kg m^2 about the axis and {r.inertia.mass:g} kg give a radius of "
                f"gyration of {radius:.3g} m. Plausible values are {low * 1e3:g} mm to {high:g} m, or "
                f"{r.inertia.mass * low**2:.2g} to {r.inertia.mass * high**2:.2g} kg m^2. {UNITS}"
            )


def _reflected(tree: pin.Model, rotors: Sequence[RotorElement], topology: Topology) -> Iterator[str]:
    moved = _moved(tree, rotors, topology)
    slips: list[tuple[RotorElement, int, float]] = []
    for r in rotors:
        # At the reference pose of a loop, some entries of the row may only be rounding errors.
        least = 1e-6 * max(abs(ratio) for _, ratio in r.drivers)
        used = [i for i in np.flatnonzero(np.abs(r.row) > least) if moved[i] > 0.0]
        if not used:
            continue
        # If several joints drive the rotor, use the joint with the largest share.
        shares = [float(r.row[i]) ** 2 * r.axial_inertia / moved[i] for i in used]
        best = int(np.argmax(shares))
        share, inertia_ratio = shares[best], r.axial_inertia / moved[used[best]]
        if share < _NOTHING or any(share > a and inertia_ratio > b for a, b in _SLIPS):
            slips.append((r, int(used[best]), share))
    if not slips:
        return
    r, i, share = slips[0]
    least = moved[i] / float(r.row[i]) ** 2
    iv = int(topology.independent[i])
    j = joint_in_v(tree, iv)
    names = ", ".join(repr(x.name) for x, _, _ in slips[1:6]) + (", ..." if len(slips) > 6 else "")
    yield (
        f"{_label(r)}: {r.axial_inertia:g} kg m^2 at the ratio {r.row[i]:g} is {share:.2g} times the inertia "
        f"({moved[i]:.3g} {'kg' if slides(tree, j) else 'kg m^2'}) that joint {tree.names[j]!r} moves. Typical rotors "
        f"at this joint have {1e-3 * least:.1g} to {10.0 * least:.1g} kg m^2. {UNITS}"
        + (f" This also applies to {names}." if names else "")
    )


def _moved(tree: pin.Model, rotors: Sequence[RotorElement], topology: Topology) -> np.ndarray:
    """Return the inertia that each independent joint moves if all rotors are locked, shape (nv,), [kg m^2] or [kg]."""
    lumped = _lumped(tree, rotors, topology.closures)
    locked = topology.G.copy()
    for r in rotors:
        if r.joint_id is not None:
            locked[list(in_v(tree, r.joint_id))] = 0.0
    columns = np.flatnonzero(np.any([r.row for r in rotors], axis=0))
    moved = np.zeros(locked.shape[1])
    for start in range(0, len(columns), _CHUNK):
        chunk = columns[start : start + _CHUNK]
        for j, V in _velocities(lumped, locked[:, chunk], topology.q_reference):
            moved[chunk] += np.einsum("ic,ic->c", V, lumped.inertias[j].matrix() @ V)
    return moved


def _counted_twice(tree: pin.Model, rotors: Sequence[RotorElement]) -> Iterator[str]:
    for r in rotors:
        if r.source is not None and r.source.armature == "replace":
            continue
        for iv, ratio in r.drivers:
            armature, reflected = float(tree.armature[iv]), ratio**2 * r.axial_inertia
            if armature > 0.0 and abs(reflected - armature) <= _EQUAL * armature:
                cure = "set armature='replace'" if r.source is not None else "set the joint's armature to 0"
                name = tree.names[joint_in_v(tree, iv)]
                yield (
                    f"{_label(r)}: at the ratio {ratio:g} the rotor reflects {reflected:.4g} kg m^2 to joint "
                    f"{name!r}, which also has armature {armature:.4g} in the tree. Is the same inertia counted twice? "
                    f"If so, {cure}."
                )


def _label(r: RotorElement) -> str:
    return str(r.source.label) if r.source is not None else f"rotor {r.name!r}"
