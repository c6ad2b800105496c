"""Laws of three robots with kernels, calls and traces compiled for ARM64, rows in packs; ``.ci/arm64`` runs it."""

from __future__ import annotations

import platform
import sys
import warnings

import numpy as np

import pin_clusters as pc
from pin_clusters.compiler.call_layer import layer
from pin_clusters.compiler.machine_code import machine
from pin_clusters.compiler.machine_code.function import Compiled
from pin_clusters.verification.baselines import projection

ROBOTS = ("mini_cheetah", "mit_humanoid", "tello")
STATES = 7  # three packs of two, and one that is left over


def error(x: np.ndarray, y: np.ndarray) -> float:
    """Return the largest difference over the largest entry."""
    return float(np.abs(x - y).max() / np.abs(y).max())


def errors(model: pc.ClusterModel) -> tuple[dict[str, float], float]:
    """Return the worst error of each law over some states, and the worst condition of M."""
    rng, data, exact = np.random.default_rng(0), model.createData(), projection.createData(model)
    traced = {name: Compiled(pc.trace(model, name)) for name in ("rnea", "aba")}
    worst: dict[str, float] = {}
    condition = 1.0
    q = np.array([pc.integrate(model, model.q_reference, 0.1 * rng.normal(size=model.nv)) for _ in range(STATES)])
    v, a = rng.normal(size=(2, STATES, model.nv))
    tau, ddq = np.empty_like(v), np.empty_like(v)
    for i, state in enumerate(zip(q, v, strict=True)):
        tau[i] = pc.rnea(model, data, *state, a[i])
        ddq[i] = pc.aba(model, data, *state, tau[i])
        M, Minv = pc.crba(model, data, q[i]), pc.computeMinverse(model, data, q[i])
        condition = max(condition, float(np.linalg.cond(M)))
        for name, x, y in (
            ("rnea - projection", tau[i], projection.rnea(model, exact, *state, a[i])),
            ("crba - projection", M, projection.crba(model, exact, q[i])),
            ("rnea traced", traced["rnea"](*state, a[i]), tau[i]),
            ("aba(rnea(a)) - a", ddq[i], a[i]),
            ("aba - projection", ddq[i], projection.aba(model, exact, *state, tau[i])),
            ("aba traced", traced["aba"](*state, tau[i]), ddq[i]),
            ("Minv M - 1", Minv @ M, np.eye(model.nv)),
        ):
            worst[name] = max(worst.get(name, 0.0), error(x, y))
    worst["rows of rnea traced"] = error(traced["rnea"](q, v, a), tau)
    worst["rows of aba traced"] = error(traced["aba"](q, v, tau), ddq)
    if not model.closures:  # kernels for rows of closed loops take long to compile
        worst["pc.batch.rnea"] = error(pc.batch.rnea(model, q, v, a), tau)
        worst["pc.batch.aba"] = error(pc.batch.aba(model, q, v, tau), ddq)
    return worst, condition


def main() -> int:
    """Print what is found; return 1 if something is wrong."""
    host, lanes = machine.host(), pc.batch.lanes
    print(f"{platform.machine()}, {host.cpu} ({host.features}), {host.triple}")
    print(f"calls: {layer()}; packs of {lanes}")
    wrong = not (platform.machine() == "aarch64" and layer() == "C" and lanes == 2)
    print("that is not what ARM64 should have" * wrong, end="\n" * wrong)
    for robot in ROBOTS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pc.PinClustersWarning)  # published inertias that are no real bodies'
            model = pc.load(robot)
        worst, condition = errors(model)
        print(f"{robot}: cond(M) = {condition:.0e}")
        for name, found in worst.items():
            # as in tests/: what inverts M loses what its condition amplifies
            limit = (1e-10 if model.closures else 1e-12) * (max(1.0, condition / 1e3) if "rnea -" not in name else 1.0)
            print(f"  {name:22} {found:.1e}{'' if found <= limit else f', beyond {limit:.0e}'}", flush=True)
            wrong |= not found <= limit
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
