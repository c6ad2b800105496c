"""The kernel of rotors with constant ratios for MuJoCo Warp. ``_rotors`` explains the equations."""

from typing import Any

import numpy as np
import warp as wp

from ._difference import Difference
from ._entry import Entry
from ._matching import Match
from ._rotors import ancestors_of, slides


def rotor_arrays(matched: Match, parts: Difference, entry: Entry, device: Any) -> list[Any]:
    """Return the first four arguments of the kernel.

    ``starts`` contains the first entries of each rotor in ``integers`` and ``ratios``. ``integers`` contains the body
    of the carrier, the numbers of drivers and of ancestors that turn the carrier, their velocities, and the address in
    ``M`` of each pair (driver, ancestor) and of each pair of drivers.
    """
    integers, ratios, starts, axes = list[int](), list[float](), list[tuple[int, int]](), list[np.ndarray]()
    tree, mj_model, addresses = matched.model.own_tree, matched.mj_model, entry.addresses
    for r, row in parts.constant:
        body, axis = 0, np.zeros(3)  # A rotor on a fixed carrier has no ancestors.
        if r.carrier_id:
            body = int(mj_model.jnt_bodyid[matched.joints[tree.names[r.carrier_id]][1]])
            axis = matched.turns[r.carrier_id] @ r.axis
        drivers = [int(matched.dofs[i]) for i in np.flatnonzero(row)]
        above = [a for a in ancestors_of(mj_model, body) if not slides(mj_model, a)]
        pairs = [(p, a) for p in drivers for a in above]
        pairs += [(p, q) for k, p in enumerate(drivers) for q in drivers[: k + 1]]
        pairs = [(max(pair), min(pair)) for pair in pairs]
        entry.check_pairs(matched.model.name, [pair for pair in pairs if pair not in addresses])
        starts.append((len(integers), len(ratios)))
        integers += [body, len(drivers), len(above), *drivers, *above, *(addresses[pair] for pair in pairs)]
        ratios += row[row != 0.0].tolist()
        axes.append(axis)
    kinds = (starts, wp.int32), (integers, wp.int32), (ratios, wp.float32), (axes, wp.vec3)
    return [wp.array(np.array(x), dtype=kind, device=device) for x, kind in kinds]


@wp.kernel(enable_backward=False)
def add_rotors(
    starts: wp.array2d[int],
    integers: wp.array[int],
    ratios: wp.array[float],
    axes: wp.array[wp.vec3],
    inertias: wp.array2d[float],
    qvel: wp.array2d[float],
    xmat: wp.array2d[wp.mat33],
    cvel: wp.array2d[wp.spatial_vector],
    cdof: wp.array2d[wp.spatial_vector],
    cdof_dot: wp.array2d[wp.spatial_vector],
    M: wp.array2d[float],
    force: wp.array2d[float],
) -> None:
    w, k = wp.tid()
    at, ratio = starts[k, 0], starts[k, 1]
    body, drivers, ancestors = integers[at], integers[at + 1], integers[at + 2]
    driver = at + 3
    above = driver + drivers
    place = above + ancestors
    J, s = inertias[w, k], xmat[w, body] * axes[k]
    alpha, rho = wp.float32(0.0), wp.float32(0.0)
    for i in range(ancestors):
        alpha += wp.dot(s, wp.spatial_top(cdof_dot[w, integers[above + i]])) * qvel[w, integers[above + i]]
    for p in range(drivers):
        v = integers[driver + p]
        moment = J * ratios[ratio + p]
        rho += ratios[ratio + p] * qvel[w, v]
        wp.atomic_add(force, w, v, -moment * alpha)
        for i in range(ancestors):
            a = integers[above + i]
            # An entry on the diagonal is in r' sigma and in sigma' r.
            factor = wp.where(a == v, 2.0 * moment, moment)
            wp.atomic_add(M, w, integers[place + i], factor * wp.dot(s, wp.spatial_top(cdof[w, a])))
        place += ancestors
    for p in range(drivers):
        for q in range(p + 1):
            wp.atomic_add(M, w, integers[place + q], J * ratios[ratio + p] * ratios[ratio + q])
        place += p + 1
    turned = wp.cross(wp.spatial_top(cvel[w, body]), s) * (J * rho)
    for i in range(ancestors):
        a = integers[above + i]
        wp.atomic_add(force, w, a, -wp.dot(wp.spatial_top(cdof[w, a]), turned))
