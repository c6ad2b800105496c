"""How derivatives lose digits as a linkage nears a dead centre of its independent joint; for derivatives_accuracy.py.

A linkage of one degree of freedom has a dead centre of joint x where its rate s = dx/dy by another joint y is 0. Near
it, everything in terms of x follows from what is known in terms of y, where nothing is singular:

    v_y = v/s,    a_y = (a - s' v_y^2)/s,    tau = tau_y/s,    d/dx = (1/s) d/dy  at the same v and a,

with s, s' and s'' from the reference. Errors are relative: the derivatives themselves grow with powers of cond(K_d).
What rounding of q makes of s is amplified by cond(K_d) by any route, here too: so far two routes agree, and no further.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from samples import mechanisms as loop_models
from samples.mechanisms import Mechanism
from scipy import optimize

import pin_clusters as pc
from pin_clusters.verification import reference

Make = Callable[[np.random.Generator], Mechanism]
# mechanism, joint y that moves all, joint x that has dead centres
LINKAGES: dict[str, tuple[Make, str, str]] = {
    "four-bar": (loop_models.four_bar, "crank", "rocker"),
    "slider-crank": (loop_models.slider_crank, "crank", "slider"),
    "Watt six-bar": (loop_models.watt_six_bar, "crank", "rocker"),
    "Bennett": (loop_models.bennett, "one", "two"),
}
WHAT = ("dtau_dq", "dtau_dv", "M")
OFFSETS = tuple(10.0 ** (-0.5 * k) for k in range(1, 11))
"""How far from the dead centre, in y, [rad]."""


def measure(quick: bool = False) -> dict[str, list[dict[str, float]]]:
    """Return what ``approach`` does, per linkage."""
    found = {}
    for name, (make, y, x) in LINKAGES.items():
        if quick and name != "four-bar":
            continue
        rows = approach(make, y, x, OFFSETS[::3] if quick else OFFSETS)
        if rows:
            found[name] = rows
            for row in rows:
                errors = "  ".join(f"{k} {v:.0e}" for k, v in row.items() if k != "condition")
                print(f"{name:16} cond {row['condition']:9.1f}  {errors}", flush=True)
    return found


def approach(make: Make, y: str, x: str, offsets: tuple[float, ...]) -> list[dict[str, float]]:
    """Measure on the way to a dead centre of joint x.

    Returns:
        Per offset: ``condition``; ``size, <what>`` at v = 0.7 and a = -0.4; ``error, <what>``, relative to it. Empty:
        there is no dead centre.
    """
    m = make(np.random.default_rng(3))
    model = m.build()
    data, column = model.createData(), model.tree.idx_vs[model.tree.getJointId(x)]

    def rate(angle: float) -> float:
        return float(pc.coupling_jacobian(model, data, pc.integrate(model, model.q_reference, [angle]))[column, 0])

    centre = _zero(rate)
    if centre is None:
        return []
    other, _ = pc.with_independent(model, [x])
    rows = []
    for offset in offsets:
        q = np.array(pc.integrate(model, model.q_reference, [centre + offset]))
        row = {"condition": loop_models.condition(other, q)}
        v, a = np.array([0.7]), np.array([-0.4])
        exact = transformed(model, column, q, v, a)
        row |= {f"size, {what}": abs(truth) for what, truth in zip(WHAT, exact, strict=True)}
        results = pc.computeRNEADerivatives(other, other.createData(), q, v, a)
        for what, one, truth in zip(WHAT, results, exact, strict=True):
            row[f"error, {what}"] = abs(float(one[0, 0]) - truth) / abs(truth)
        rows.append(row)
    return rows


def transformed(
    model: pc.ClusterModel, column: int, q: np.ndarray, v: np.ndarray, a: np.ndarray
) -> tuple[float, float, float]:
    """Return dtau/dx, dtau/dv and M in terms of the joint of that velocity of the tree."""
    one, zero = np.ones(1), np.zeros(1)
    v_q, a_q, _ = reference.coupling_derivatives(model, q, one, zero)
    s = float(reference.coupling_jacobian(model, q)[column, 0])
    ds_dy = float(v_q[column, 0])
    d2s_dy2 = float(a_q[column, 0])
    v_y = float(v[0]) / s
    a_y = (float(a[0]) - ds_dy * v_y**2) / s
    tau = float(pc.rnea(model, model.createData(), q, [v_y], [a_y])[0])
    tau_q, tau_v, M = (float(x[0, 0]) for x in reference.rnea_derivatives(model, q, [v_y], [a_y]))
    dv_y = -v_y * ds_dy / s
    da_y = (-d2s_dy2 * v_y**2 - 2.0 * ds_dy * v_y * dv_y - a_y * ds_dy) / s
    by_y = (tau_q + tau_v * dv_y + M * da_y) / s - tau * ds_dy / s**2
    by_v = (tau_v / s - 2.0 * M * ds_dy * v_y / s**2) / s
    return by_y / s, by_v, M / s**2


def _zero(rate: Callable[[float], float]) -> float | None:
    """Return where the rate is 0, None if it nowhere is."""
    angles = np.linspace(0.0, 2.0 * np.pi, 73)
    before = np.nan
    for k, angle in enumerate(angles):
        try:
            now = rate(float(angle))
        except (pc.BranchLost, pc.SingularClusterError):
            return None
        if before * now < 0.0:
            return float(optimize.brentq(rate, angles[k - 1], angle, xtol=1e-15))
        before = now
    return None
