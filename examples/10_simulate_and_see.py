"""Simulate a leg with exact rotors and with armature under the same torques, and show both on one page.

The torques make the exact leg follow a reference. The translucent ghost, the leg with armature, drifts away. The page
needs no network and no server; open `leg.html` in a browser. The leg hangs from a fixed hip, without contact.
"""

from __future__ import annotations

import numpy as np

import pin_clusters as pc
from pin_clusters import approximations, visualize

DT, DURATION, FREQUENCY, SWING = 1e-3, 1.0, 1.5, 0.35  # [s], [s], [Hz], [rad]


def reference(t: np.ndarray, nv: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return position, velocity and acceleration of every joint, shape (times, nv), starting at rest."""
    w, one = 2 * np.pi * FREQUENCY, np.ones(nv)
    wave = SWING * (1 - np.cos(w * t)), SWING * w * np.sin(w * t), SWING * w * w * np.cos(w * t)
    return tuple(np.outer(x, one) for x in wave)


def foot(model: pc.ClusterModel, q: np.ndarray) -> np.ndarray:
    """Return the position of the centre of the sole at each configuration, shape (times, 3), [m]."""
    data, j, path = model.createData(), model.getJointId("ankle"), []
    for each in q:
        pc.forwardKinematics(model, data, each)
        path.append(data.tree.oMi[j].act(np.array([0.025, 0.0, -0.041])))
    return np.array(path)


def main() -> dict[str, np.ndarray]:
    """Simulate both legs and write the page; return times [s] and paths of the foot [m]."""
    model = pc.load("mit_humanoid_leg", root_joint=None)
    data, start = model.createData(), pc.neutral(model)
    middle = (np.arange(round(DURATION / DT)) + 0.5) * DT  # torques are constant during a step, so use its middle
    tau = np.array(
        [
            pc.rnea(model, data, pc.integrate(model, start, x), v, a)
            for x, v, a in zip(*reference(middle, model.nv), strict=True)
        ]
    )
    exact = pc.simulate(model, start, np.zeros(model.nv), tau, DURATION, DT)
    believed = approximations.of(model)["diagonal"]
    ghost = pc.simulate(model, start, np.zeros(model.nv), tau, DURATION, DT, dynamics=believed.aba)
    print(
        f"{model.name}: {len(exact.time)} samples, method {exact.method}, {model.nv} joints, {len(model.rotors)} rotors"
    )

    wanted = foot(model, np.array([pc.integrate(model, start, x) for x in reference(exact.time, model.nv)[0]]))
    paths = {"wanted": wanted, "exact": foot(model, exact.q), "armature": foot(model, ghost.q)}
    miss = {n: 1e3 * np.linalg.norm(paths[n] - wanted, axis=1) for n in ("exact", "armature")}
    for name, gap in miss.items():
        at = ", ".join(f"{gap[round(t / DT)]:.2f} mm after {t:.2f} s" for t in (0.25, 0.5, 1.0))
        print(f"position error of the foot, {name} leg: {at}")
    assert miss["exact"].max() < 1.0  # because the torques are constant for 1 ms each
    assert miss["armature"].max() > 20.0
    viewer = visualize.animate(
        model, exact.time, exact.q, ghost=(ghost.time, ghost.q), ghost_label="the same torques with armature"
    )
    viewer.save("leg.html")
    print("written: leg.html")
    return {"time": exact.time, **paths}


if __name__ == "__main__":
    main()
