"""Closed loops against MuJoCo: its equality constraints tie the same bodies, its null space gives G.

MuJoCo's own trees, mass matrices, bias forces (``mj_inverse``) and constraint Jacobians (``connect``, ``joint``,
``tendon``); of this package only the statement of the mechanism and the assembled pose are used. MuJoCo's forces of
equality constraints drop out when its inverse dynamics is projected with the null space of their Jacobian.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import mechanisms
from samples.pool import error, slope
from support.draws import draw

import pin_clusters as pc
from pin_clusters.constraints.closures import FrameClosure, RodClosure
from pin_clusters.model.expansion import expand

mujoco = pytest.importorskip("mujoco", minversion="3.2.3")

X, Y, Z = np.eye(3)


def text(*numbers: Any) -> str:
    return " ".join(repr(float(x)) for x in np.concatenate([np.ravel(n) for n in numbers]))


def quaternion(R: np.ndarray) -> str:
    x, y, z, w = pin.Quaternion(R).coeffs()
    return text([w, x, y, z])


def fixed_tendon(name: str, coefficients: dict[int, float]) -> str:
    terms = "".join(f'<joint joint="j{j}" coef="{x!r}"/>' for j, x in coefficients.items())
    return f'<fixed name="{name}">{terms}</fixed>'


class Twin:
    """The expanded tree of a model in MuJoCo, loops by ``connect`` and spatial tendons, rotors by fixed tendons.

    Args:
        model: Gives the tree and what was stated.
        equality: More elements of <equality>.
        tendon: More elements of <tendon>.
        closures: Whether the model's frames and rods are tied; else ``equality`` says all.
    """

    def __init__(self, model: pc.ClusterModel, equality: str = "", tendon: str = "", closures: bool = True) -> None:
        self.span = expand(model)
        self.tree, self.sites = self.span.tree, dict[int, str]()
        ids, ties, tendons = self.span.from_tree_id, [], []
        for n, c in enumerate(model.closures if closures else ()):
            ends = f"a{n}", f"b{n}"
            if isinstance(c, FrameClosure):
                points = c.placement_a.translation, c.placement_b.translation
                ties.append(f'<connect site1="{ends[0]}" site2="{ends[1]}"/>')
            else:
                assert isinstance(c, RodClosure)
                assert c.mass == 0.0
                points = c.point_a, c.point_b
                sites = "".join(f'<site site="{end}"/>' for end in ends)
                tendons.append(f'<spatial name="rod{n}">{sites}</spatial>')
                ties.append(f'<tendon tendon1="rod{n}"/>')
            for end, j, point in zip(ends, (c.joint_a, c.joint_b), points, strict=True):
                own = int(ids[j]) if j else 0
                self.sites[own] = self.sites.get(own, "") + f'<site name="{end}" pos="{text(point)}"/>'
        rotors = [c for c in model.constraints if isinstance(c, pc.Rotor)]
        for n, (j, rotor) in enumerate(zip(self.span.rotors, rotors, strict=True)):
            ratios = [*zip(np.atleast_1d(rotor.joints), np.atleast_1d(rotor.ratios), strict=True)]
            numbered = {self.tree.getJointId(i): float(r) for i, r in ratios} | {j: -1.0}
            tendons.append(fixed_tendon(f"rotor{n}", numbered))
            ties.append(f'<tendon tendon1="rotor{n}"/>')
        children: dict[int, list[int]] = {}
        for j in range(1, self.tree.njoints):
            children.setdefault(int(self.tree.parents[j]), []).append(j)
        self.xml = (
            '<mujoco><compiler angle="radian" boundmass="0" boundinertia="0"/>'
            f'<option gravity="{text(self.tree.gravity.linear)}" jacobian="dense"><flag energy="enable"/></option>'
            f"<worldbody>{self.sites.get(0, '')}{''.join(self.body(j, children) for j in children[0])}</worldbody>"
            f"<tendon>{''.join(tendons)}{tendon}</tendon><equality>{''.join(ties)}{equality}</equality></mujoco>"
        )
        self.model = mujoco.MjModel.from_xml_string(self.xml)
        self.data = mujoco.MjData(self.model)
        self.free = np.array(self.span.from_tree_v)[model.idx_v_independent]
        self.model.dof_armature[:] = 0.0
        for j in range(1, self.tree.njoints):
            for i in range(self.tree.idx_vs[j], self.tree.idx_vs[j] + self.tree.nvs[j]):
                self.model.dof_armature[i] = self.tree.armature[i]

    def name(self, j: int) -> str:
        return f"j{j}"

    def body(self, j: int, children: dict[int, list[int]]) -> str:
        tree, inertia = self.tree, self.tree.inertias[j]
        where, kind = tree.jointPlacements[j], tree.joints[j].shortname()
        if kind == "JointModelFreeFlyer":
            joints = f'<freejoint name="{self.name(j)}"/>'
        else:
            data = tree.joints[j].createData()
            tree.joints[j].calc(data, pin.neutral(tree))
            joints = ""
            for k, column in enumerate(np.asarray(data.S).reshape(6, -1).T):
                assert np.any(column[:3]) != np.any(column[3:]), kind
                what, axis = ("slide", column[:3]) if np.any(column[:3]) else ("hinge", column[3:])
                # depth-first here and there, so the order of coordinates is the same
                joints += f'<joint name="{self.name(j)}{"_" + str(k) if k else ""}" type="{what}" axis="{text(axis)}"/>'
        I = inertia.inertia
        full = text(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
        return (
            f'<body pos="{text(where.translation)}" quat="{quaternion(where.rotation)}">{joints}'
            f'<inertial mass="{inertia.mass!r}" pos="{text(inertia.lever)}" fullinertia="{full}"/>'
            f"{self.sites.get(j, '')}{''.join(self.body(k, children) for k in children.get(j, ()))}</body>"
        )

    def place(self, q: np.ndarray) -> None:
        """Set the coordinates of the expanded tree."""
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:] = q
        for j in self.flyers():
            i = self.tree.idx_qs[j] + 3
            self.data.qpos[i : i + 4] = q[[i + 3, i, i + 1, i + 2]]
        mujoco.mj_fwdPosition(self.model, self.data)

    def flyers(self) -> list[int]:
        return [j for j in range(1, self.tree.njoints) if self.tree.nvs[j] == 6]

    def turn(self, q: np.ndarray) -> np.ndarray:
        """MuJoCo's velocity of Pinocchio's: that of a free flyer is of the world where it is linear."""
        T = np.eye(self.tree.nv)
        for j in self.flyers():
            i, k = self.tree.idx_qs[j] + 3, self.tree.idx_vs[j]
            T[k : k + 3, k : k + 3] = pin.Quaternion(q[i : i + 4]).toRotationMatrix()
        return T

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        self.place(q)
        return np.array(self.data.efc_J).reshape(-1, self.tree.nv) @ self.turn(q)

    def G(self, q: np.ndarray) -> np.ndarray:
        """Null space of the constraints, scaled to the independent velocities."""
        J = self.jacobian(q)
        J = J / np.maximum(np.linalg.norm(J, axis=1), 1e-9)[:, None]  # across a plane there is nothing
        _, S, Vt = np.linalg.svd(J)
        rank = int(np.sum(S > 1e-7 * S[0]))
        N = Vt[rank:].T
        assert N.shape[1] == len(self.free)
        return np.asarray(N @ np.linalg.inv(N[self.free]))

    def g(self, q: np.ndarray, rate: np.ndarray) -> np.ndarray:
        """Acceleration at zero independent acceleration, from differences of MuJoCo's Jacobian along the motion."""
        J = self.jacobian(q)
        h = 1e-3 / max(1.0, float(np.abs(rate).max()))
        change = slope(lambda t: self.jacobian(pin.integrate(self.tree, q, t * rate)) @ rate, h)
        held = np.setdiff1d(np.arange(self.tree.nv), self.free)
        g = np.zeros(self.tree.nv)
        g[held] = -np.linalg.lstsq(J[:, held], change, rcond=1e-7)[0]
        return g

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        self.place(q)
        columns = np.zeros((self.tree.nv, self.tree.nv))
        for k, column in enumerate(columns):
            mujoco.mj_mulM(self.model, self.data, column, np.eye(self.tree.nv)[k])
        T = self.turn(q)
        return np.asarray(T.T @ columns @ T)

    def inverse(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """mj_inverse; the forces of equality constraints are in it."""
        self.place(q)
        T = self.turn(q)
        self.data.qvel[:], qacc = T @ v, T @ a
        for j in self.flyers():
            k = self.tree.idx_vs[j]
            qacc[k : k + 3] += T[k : k + 3, k : k + 3] @ np.cross(v[k + 3 : k + 6], v[k : k + 3])
        self.data.qacc[:] = qacc
        mujoco.mj_inverse(self.model, self.data)
        return np.asarray(T.T @ self.data.qfrc_inverse)


# --- mechanisms -------------------------------------------------------------------------------------------------------


def of(make: Callable[..., mechanisms.Mechanism], **options: Any) -> Callable[[np.random.Generator], Any]:
    """A mechanism whose loops are frames and rods."""

    def built(rng: np.random.Generator) -> Any:
        m = make(rng, **options)
        model = m.build()
        return model, Twin(model), m.spread

    return built


def rotors(rng: np.random.Generator) -> mechanisms.Mechanism:
    """A four-bar whose dependent joints drive rotors: alone, together, carried by a bar and by the ground."""
    m = mechanisms.four_bar(rng)
    mechanisms.add_rotors(rng, m.constraints, ["crank", "coupler", "rocker"], 4)
    return m


def shipped(name: str) -> Callable[[np.random.Generator], Any]:
    def built(rng: np.random.Generator) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pc.PinClustersWarning)
            model = pc.load(name)
        return model, Twin(model), 0.3

    return built


def parallelogram(rng: np.random.Generator) -> Any:
    b = mechanisms.Builder(rng)
    b.add("left", None, Y, np.zeros(3), -1.0)
    b.add("right", None, Y, X, -1.0)
    b.add("bar", "left", Y, 0.5 * X, 1.0)
    loop = pc.Loop(("bar", X), ("right", 0.5 * X), "revolute", Y)
    m = b.mechanism([loop], ("left",), 1)
    model = m.build()
    return model, Twin(model), 0.4


CURVE = (1.3, -0.4, 0.25)


def cam(x: np.ndarray) -> np.ndarray:
    """A follower on a curve of its shaft, as Tello's linkages are on paper."""
    return np.array([x[1] - CURVE[0] * x[0] - CURVE[1] * x[0] ** 2 - CURVE[2] * x[0] ** 3])


def cam_jacobian(x: np.ndarray) -> np.ndarray:
    return np.array([[-CURVE[0] - 2.0 * CURVE[1] * x[0] - 3.0 * CURVE[2] * x[0] ** 2, 1.0]])


def curve(rng: np.random.Generator) -> Any:
    """MuJoCo's polynomial of one joint."""
    b = mechanisms.Builder(rng)
    b.add("hip", None, X, np.zeros(3), 0.2)
    b.add("shaft", "hip", Y, 0.2 * Z, 0.4)
    b.add("follower", "hip", Z, 0.3 * X, 0.5)
    b.add("tip", "follower", X, 0.2 * Y, 0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)  # slow, said once
        m = b.mechanism([pc.Coupling(["shaft", "follower"], cam, cam_jacobian)], ("hip", "shaft", "tip"), 3)
        model = m.build()
    shaft, follower = (model.getJointId(n) for n in ("shaft", "follower"))
    poly = f'<joint joint1="j{follower}" joint2="j{shaft}" polycoef="{text([0.0, *CURVE, 0.0])}"/>'
    return model, Twin(model, poly, closures=False), 0.3


def bevel(rng: np.random.Generator) -> Any:
    """Pitch the mean, roll the difference of two shafts: two fixed tendons, and a closed loop on top."""
    b = mechanisms.Builder(rng)
    for name, axis in (("one", Y), ("two", Y)):
        b.add(name, None, axis, 0.2 * X)
    b.add("pitch", None, Y, 0.3 * Z)
    b.add("roll", "pitch", X, np.zeros(3))
    b.q()
    model = pc.ClusterModel(b.tree, [pc.Differential.bevel("one", "two", "pitch", "roll", ratio=-2.0)])
    row = {c.dependent: c for c in model.coupling_rows}
    tendon, equality = "", ""
    for name in ("pitch", "roll"):
        c = row[model.getJointId(name)]
        tendon += fixed_tendon(name, dict(zip(c.masters, c.coefficients, strict=True)) | {c.dependent: -1.0})
        equality += f'<tendon tendon1="{name}"/>'
    return model, Twin(model, equality, tendon), 0.5


MECHANISMS: dict[str, Callable[[np.random.Generator], Any]] = {
    "four_bar": of(mechanisms.four_bar),
    "four_bar, one chain": of(mechanisms.four_bar, serial=True),
    "four_bar on a floating base": of(mechanisms.four_bar, base=True),
    "slider_crank": of(mechanisms.slider_crank),
    "parallelogram": parallelogram,
    "six_bar, three freedoms": of(mechanisms.six_bar),
    "watt_six_bar": of(mechanisms.watt_six_bar),
    "rssr": of(mechanisms.rssr),
    "delta": of(mechanisms.delta, mass=0.0),
    "delta, three pairs": of(mechanisms.delta, mass=0.0, rods=6),
    "the robot four_bar": shipped("four_bar"),
    "the robot watt_six_bar": shipped("watt_six_bar"),
    "rotors on a loop": of(rotors),
    "a polynomial": curve,
    "a bevel differential": bevel,
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_against_mujoco(name: str) -> None:
    rng = draw(f"test_mujoco_loops.py::test_against_mujoco[{name}]")  # bodies whose inertia MuJoCo does not refuse
    model, twin, spread = MECHANISMS[name](rng)
    data, span = model.createData(), twin.span
    for _ in range(3):
        start = pc.neutral(model)
        if model.closures:
            q = mechanisms.random_pose(model, start, rng, spread)
        else:
            q = pc.integrate(model, start, rng.normal(size=model.nv))
        full = span.configuration(q)
        twin.place(full)
        # assembled there as well: connect, tendon and joint have the same geometry
        if not model.rotors and not any(isinstance(c, RodClosure) for c in model.closures):
            assert np.abs(twin.data.efc_pos).max() < 1e-9  # tendons count from their length at zero
        v, a = rng.normal(size=(2, model.nv))
        G = twin.G(full)
        rate = G @ v
        g = twin.g(full, rate)
        assert error(span.from_tree @ pc.coupling_jacobian(model, data, q), G) < 1e-11
        bend = float(np.abs(rate).max()) ** 2
        assert error(span.from_tree @ pc.coupling_bias(model, data, q, v), g) < 1e-9 * max(1.0, bend)
        assert error(pc.crba(model, data, q), G.T @ twin.mass_matrix(full) @ G) < 1e-11
        tau = G.T @ twin.inverse(full, rate, G @ a + g)
        assert error(pc.rnea(model, data, q, v, a), tau) < 1e-9 * max(1.0, bend)
        assert error(pc.aba(model, data, q, v, tau), a) < 1e-8 * max(1.0, bend)
        mujoco.mj_energyPos(twin.model, twin.data)
        assert pc.computePotentialEnergy(model, data, q) == pytest.approx(twin.data.energy[0], rel=1e-11, abs=1e-11)
