"""Projection of Tello as fast as Python can: G and g written out by hand, from the published equations.

One differential has four angles, for which scalars are faster than arrays. The rest is ``baselines.projection``: G and
g of its workspace are filled here, and ``hold`` keeps it from finding them itself by a null space.
"""

from __future__ import annotations

from math import cos, pi, sin
from typing import Any

import numpy as np

import pin_clusters as pc
from pin_clusters.verification.baselines import projection

GEAR = 6.0
CRANK, LENGTH, OFFSET, POST, LATERAL = 0.0228, 0.0098, 0.01995, 0.0128, 0.0112
SHORT, LONG, ROD, FOOT_LONG, FOOT_SHORT = 0.00336, 0.0208, 0.0028, 0.0182, 0.00294
AT_SHORT, AT_LONG, AT_ROD = 1979.0 / 4500.0 * pi, 493.0 / 1500.0 * pi, 231.0 / 500.0 * pi
AT_FOOT_LONG, AT_FOOT_SHORT = 2.0 / 15.0 * pi, pi / 45.0


def hip(
    x1: float, x2: float, l1: float, l2: float, u1: float, u2: float
) -> tuple[float, float, float, float, float, float]:
    """Return G (by rows: gimbal, thigh) and g of a hip at its angles and the rates of its rotors."""
    s1, c1, s2, c2 = sin(l1), cos(l1), sin(l2), cos(l2)
    y, z = x1 / GEAR, x2 / GEAR
    sy, cy, sz, cz = sin(y), cos(y), sin(z), cos(z)
    p_12, q_s = POST * c1 * s2, POST * s1 * s2
    # first derivatives of both rows, by their own crank, the gimbal and the thigh
    ay = CRANK * cy + POST * sy * c2 - LATERAL * cy * s1 - p_12 * cy
    bz = CRANK * cz + POST * sz * c2 + LATERAL * cz * s1 - p_12 * cz
    common = LENGTH * s1 + CRANK * s1 * s2
    a1 = common - OFFSET * c1 - LATERAL * sy * c1 + LATERAL * c1 * s2 + q_s * sy
    b1 = common + OFFSET * c1 + LATERAL * sz * c1 - LATERAL * c1 * s2 + q_s * sz
    common = -CRANK * c1 * c2
    a2 = common + POST * cy * s2 + LATERAL * s1 * c2 - POST * c1 * sy * c2
    b2 = common + POST * cz * s2 - LATERAL * s1 * c2 - POST * c1 * sz * c2
    det = a1 * b2 - a2 * b1
    ay, bz = ay / GEAR, bz / GEAR
    G = -b2 * ay / det, a2 * bz / det, b1 * ay / det, -a1 * bz / det
    w1, w2 = G[0] * u1 + G[1] * u2, G[2] * u1 + G[3] * u2
    u1, u2 = u1 / GEAR, u2 / GEAR
    # velocity terms: second derivatives times the rates
    yy = (-CRANK * sy + POST * cy * c2 + LATERAL * sy * s1 + p_12 * sy) * u1
    y1 = (-LATERAL * cy * c1 + q_s * cy) * w1 + (-POST * sy * s2 - POST * c1 * cy * c2) * w2
    zz = (-CRANK * sz + POST * cz * c2 - LATERAL * sz * s1 + p_12 * sz) * u2
    z1 = (LATERAL * cz * c1 + q_s * cz) * w1 + (-POST * sz * s2 - POST * c1 * cz * c2) * w2
    common = LENGTH * c1 + CRANK * c1 * s2
    a11 = common + OFFSET * s1 + LATERAL * sy * s1 - LATERAL * s1 * s2 + p_12 * sy
    b11 = common - OFFSET * s1 - LATERAL * sz * s1 + LATERAL * s1 * s2 + p_12 * sz
    a12 = CRANK * s1 * c2 + LATERAL * c1 * c2 + POST * s1 * sy * c2
    b12 = CRANK * s1 * c2 - LATERAL * c1 * c2 + POST * s1 * sz * c2
    a22 = POST * cy * c2 + CRANK * c1 * s2 - LATERAL * s1 * s2 + p_12 * sy
    b22 = POST * cz * c2 + CRANK * c1 * s2 + LATERAL * s1 * s2 + p_12 * sz
    a = (yy + 2.0 * y1) * u1 + (a11 * w1 + 2.0 * a12 * w2) * w1 + a22 * w2 * w2
    b = (zz + 2.0 * z1) * u2 + (b11 * w1 + 2.0 * b12 * w2) * w1 + b22 * w2 * w2
    return (*G, (a2 * b - b2 * a) / det, (b1 * a - a1 * b) / det)


def foot(x1: float, x2: float, l2: float, u1: float, u2: float) -> tuple[float, float]:
    """Return d(foot)/d(rotor 1), which is minus that by rotor 2, and g."""
    d = (x1 - x2) / (2.0 * GEAR)
    s_rod, c_rod = ROD * sin(d + l2 + AT_ROD), ROD * cos(d + l2 + AT_ROD)
    by_d = -SHORT * sin(d + AT_SHORT) + LONG * sin(d + AT_LONG) - c_rod
    by_l = -c_rod + FOOT_LONG * cos(l2 + AT_FOOT_LONG) - FOOT_SHORT * cos(l2 + AT_FOOT_SHORT)
    slope = -by_d / by_l
    rate = (u1 - u2) / (2.0 * GEAR)
    w = slope * rate
    dd = -SHORT * cos(d + AT_SHORT) + LONG * cos(d + AT_LONG) + s_rod
    ll = s_rod - FOOT_LONG * sin(l2 + AT_FOOT_LONG) + FOOT_SHORT * sin(l2 + AT_FOOT_SHORT)
    return slope / (2.0 * GEAR), -((dd * rate + 2.0 * s_rod * w) * rate + ll * w * w) / by_l


class ByHand:
    """The workspace of the projection, and where in q, v, G and g the angles of Tello are."""

    def __init__(self, model: pc.ClusterModel, q: np.ndarray) -> None:
        self.model, self.work = model, projection.createData(model)
        projection.aba(model, self.work, q, np.zeros(model.nv), np.zeros(model.nv))
        self.work.hold = True  # what does not depend on q is in G now
        self.legs, entries, self.biases = [], [], []
        tree, span = model.tree, self.work.span
        for side in ("left", "right"):
            names = ("hip_rotor_1", "hip_rotor_2", "hip_roll", "hip_pitch")
            more = ("knee_ankle_rotor_1", "knee_ankle_rotor_2", "knee", "ankle")
            joints = [tree.joints[tree.getJointId(f"{side}_{name}")] for name in (*names, *more)]
            rows = [int(span.from_tree_v[j.idx_v]) for j in joints]
            free = {iv: i for i, iv in enumerate(model.idx_v_independent.tolist())}
            own = [free[joints[i].idx_v] for i in (0, 1, 4, 5)]
            self.legs.append(([j.idx_q for j in joints], own))
            entries += [r * model.nv + c for r in rows[2:4] for c in own[:2]]
            entries += [rows[7] * model.nv + c for c in own[2:]]
            self.biases += [rows[2], rows[3], rows[7]]
        self.entries = np.array(entries)

    def aba(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> Any:
        """Return the independent acceleration."""
        work, G, g = self.work, [], []
        angles, rates = q.tolist(), v.tolist()
        for (x1, x2, l1, l2, k1, k2, _, ankle), (u1, u2, w1, w2) in self.legs:
            *block, g1, g2 = hip(angles[x1], angles[x2], angles[l1], angles[l2], rates[u1], rates[u2])
            slope, g3 = foot(angles[k1], angles[k2], angles[ankle], rates[w1], rates[w2])
            G += [*block, slope, -slope]
            g += [g1, g2, g3]
        work.G.put(self.entries, G)
        work.GT[:] = work.G.T
        work.g.put(self.biases, g)
        return projection.aba(self.model, work, q, v, tau)
