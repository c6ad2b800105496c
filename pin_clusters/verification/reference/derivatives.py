"""Compute derivatives of dynamics from Pinocchio's derivatives of the expanded tree, combined with G and dG/dq.

The kernels never compute dG/dq. This module computes G, the tensor dG/dq and the second derivatives of the closures in
NumPy, by complex-step differentiation. It then projects Pinocchio's derivatives of the tree in which every rotor is a
body. Two point masses on their own translation joints represent each rod with mass.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from ..._support.docstrings import STATE, stock
from ...constraints.closures import RodClosure, massive
from ...model import ClusterModel, joint_forces
from ..null_space import rod_points
from ._closure_rates import placed
from ._coupling_rates import CouplingRates, Rates
from ._ends import Along, Motion, split

_documented = stock(
    STATE,
    """
Raises:
    SingularClusterError: The independent velocities do not determine the dependent velocities at this q.
""",
)


class _State:
    """The expanded tree and the rods in one state, with Pinocchio's data."""

    def __init__(self, model: ClusterModel, q: Any, v: Any, a: Any) -> None:
        self.model = model
        self.v, self.a = np.asarray(v, dtype=float), np.asarray(a, dtype=float)
        coupling = CouplingRates(model, q)
        self.simple, self.tree, self.q = coupling.simple, pin.Model(coupling.simple.tree), coupling.full_q
        F, r = coupling.map, coupling.rates(self.v, self.a)
        H = np.einsum("ij,jkm->ikm", F, coupling.H)
        rows = [F @ coupling.G, H, F @ r.v, F @ r.a, F @ r.v_q, F @ r.a_q, F @ r.a_v]
        for mass, position, point_rows in _point_masses(coupling, r):
            j = self.tree.addJoint(0, pin.JointModelTranslation(), pin.SE3.Identity(), f"point {self.tree.njoints}")
            body = pin.Inertia(mass, np.zeros(3), np.zeros((3, 3)))
            self.tree.appendBodyToJoint(j, body, pin.SE3.Identity())
            self.q = np.concatenate([self.q, position])
            rows = [np.concatenate(pair) for pair in zip(rows, point_rows, strict=True)]
        self.G, self.H, self.v_tree, self.a_tree, self.v_q, self.a_q, self.a_v = rows
        self.data = self.tree.createData()

    def torque(self, fext: Any) -> np.ndarray:
        return np.array(pin.rnea(self.tree, self.data, self.q, self.v_tree, self.a_tree, self._forces(fext)))

    def derivatives(self, fext: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        t = self.torque(fext)
        state = self.q, self.v_tree, self.a_tree
        partials = pin.computeRNEADerivatives(self.tree, self.data, *state, self._forces(fext))
        D_q, D_v, M = (np.array(x) for x in partials)
        M = np.triu(M) + np.triu(M, 1).T
        G = self.G
        dtau_dq = G.T @ (D_q @ G + D_v @ self.v_q + M @ self.a_q) + np.einsum("i,ikm->km", t, self.H)
        return dtau_dq, G.T @ (D_v @ G + M @ self.a_v), G.T @ M @ G

    def _forces(self, fext: Any) -> pin.StdVec_Force:
        """Convert the user's external forces to the joint frames of the tree."""
        ids = self.simple.ids
        return joint_forces(self.tree, ids, np.zeros((len(ids), 6)) if fext is None else fext)


@_documented
def rnea_derivatives(
    model: ClusterModel, q: ArrayLike, v: ArrayLike, a: ArrayLike, fext: Any = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Differentiate inverse dynamics tau = G' t(q, G v, G a + g); Pinocchio differentiates the tree torques t.

    Returns:
        dtau/dq, dtau/dv and the mass matrix, shape (nv, nv) each, with one row per torque. In dtau/dq, dq is a tangent
        vector, as in ``pc.integrate``; v, a, and external forces in joint frames are constant.
    """
    return _State(model, q, v, a).derivatives(fext)


@_documented
def aba_derivatives(
    model: ClusterModel, q: ArrayLike, v: ArrayLike, tau: ArrayLike, fext: Any = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Differentiate forward dynamics: da = -M^-1 dtau; ``rnea_derivatives`` computes dtau at the solution a.

    Returns:
        da/dq, da/dv and the inverse mass matrix, shape (nv, nv) each; tau and forces in joint frames are constant.
    """
    bias_state = _State(model, q, v, np.zeros(model.nv))
    M = bias_state.derivatives(fext)[2]
    a = np.linalg.solve(M, np.asarray(tau, dtype=float) - bias_state.G.T @ bias_state.torque(fext))
    dtau_dq, dtau_dv, _ = rnea_derivatives(model, q, v, a, fext)
    return -np.linalg.solve(M, dtau_dq), -np.linalg.solve(M, dtau_dv), np.linalg.inv(M)


@_documented
def coriolis_matrix(model: ClusterModel, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """Compute the Coriolis matrix C, shape (nv, nv), for which dM/dt - 2 C is skew-symmetric.

    C v = nonlinear effects - gravity. C = G' C_tree G + G' M_tree dG/dt, where dG/dt is the time derivative of G.

    References:
        Wensing and Slotine, arXiv 2312.14425.
    """
    s = _State(model, q, v, np.zeros(model.nv))
    C = np.array(pin.computeCoriolisMatrix(s.tree, s.data, s.q, s.v_tree))
    M = np.array(pin.crba(s.tree, s.data, s.q))
    M = np.triu(M) + np.triu(M, 1).T
    return np.asarray(s.G.T @ (C @ s.G + M @ (s.H @ s.v)))


@_documented
def centroidal_derivatives(
    model: ClusterModel, q: ArrayLike, v: ArrayLike, a: ArrayLike
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Differentiate the centroidal momentum h, in world axes, [linear; angular].

    Returns:
        dh/dq, d(dh/dt)/dq, d(dh/dt)/dv and d(dh/dt)/da, shape (6, nv) each.
    """
    s = _State(model, q, v, a)
    partials = pin.computeCentroidalDynamicsDerivatives(s.tree, s.data, s.q, s.v_tree, s.a_tree)
    h_q, rate_q, rate_v, A = (np.array(x).reshape(6, -1) for x in partials)  # Pinocchio returns vectors for one column
    drate_q = rate_q @ s.G + rate_v @ s.v_q + A @ s.a_q
    return h_q @ s.G + A @ s.v_q, drate_q, rate_v @ s.G + A @ s.a_v, A @ s.G


@_documented
def frame_hessian(
    model: ClusterModel, q: ArrayLike, frame: int, reference_frame: pin.ReferenceFrame = pin.LOCAL
) -> Any:
    """Differentiate the Jacobian of a frame with respect to q.

    The derivative combines dG/dq with Pinocchio's time derivative of the tree's Jacobian, with each column of G as the
    velocity. If the axes move with the frame, the effect of the frame's motion is subtracted.

    Args:
        frame: Id of the frame.
        reference_frame: Axes of the Jacobian.

    Returns:
        Array H with H[:, k, m] = dJ[:, k] / dq_m, shape (6, nv, nv), [linear; angular].
    """
    zero = np.zeros(model.nv)
    s, frame_of_tree = _State(model, q, zero, zero), model.tree.frames[frame]
    j = int(s.simple.ids[frame_of_tree.parentJoint])
    pin.computeJointJacobians(s.tree, s.data, s.q)
    J_tree = np.array(pin.getJointJacobian(s.tree, s.data, j, pin.WORLD))
    pose = s.data.oMi[j] * frame_of_tree.placement
    axes = pin.SE3(np.eye(3), pose.translation) if reference_frame == pin.LOCAL_WORLD_ALIGNED else pose
    J, hessian = J_tree @ s.G, np.zeros((6, model.nv, model.nv))
    for m in range(model.nv):
        pin.computeJointJacobiansTimeVariation(s.tree, s.data, s.q, s.G[:, m])
        rate = np.array(pin.getJointJacobianTimeVariation(s.tree, s.data, j, pin.WORLD))
        hessian[:, :, m] = rate @ s.G + J_tree @ s.H[:, :, m]
        if reference_frame != pin.WORLD:
            frame_motion = pin.Motion(J[:, m])
            if reference_frame == pin.LOCAL_WORLD_ALIGNED:  # these axes do not rotate
                frame_motion = pin.Motion(axes.actInv(frame_motion).linear, np.zeros(3))
            hessian[:, :, m] = axes.inverse().action @ (hessian[:, :, m] - frame_motion.action @ J)
    return hessian


def _point_masses(coupling: CouplingRates, rates: Rates) -> Iterator[tuple[float, np.ndarray, tuple[np.ndarray, ...]]]:
    """Yield mass, position, and rows of G, dG/dq, v, a, dv/dq, da/dq, da/dv (world axes) for each point mass."""
    G, zero = coupling.G, coupling.nothing
    motion = Motion(coupling.simple.tree, coupling.full_q, coupling.map @ rates.v, coupling.map @ rates.a)
    by_q, by_v = coupling.whole(Along(G, rates.v_q, rates.a_q)), coupling.whole(Along(zero, G, rates.a_v))
    units = [(unit, coupling.whole(Along(G, zero, coupling.H[:, i]))) for i, unit in enumerate(coupling.units)]

    def point(rod: RodClosure, weight: float, motion: Motion, along: Along) -> list[tuple[np.ndarray, np.ndarray]]:
        a, b = (motion.end(int(coupling.simple.ids[j]), placed(x), along) for j, x in rod.ends)
        pairs = (a.x, b.x), (a.xd, b.xd), (a.xdd, b.xdd)
        return [split(weight * end_a + (1.0 - weight) * end_b) for end_a, end_b in pairs]

    for rod in massive(coupling.model.closures) if units else ():
        for mass, weight in rod_points(rod):
            (position, _), (v, v_q), (a, a_q) = point(rod, weight, motion, by_q)
            _, _, (_, a_v) = point(rod, weight, motion, by_v)
            # At rest, the acceleration of a point is J a, so the unit vector a = e_i yields column i of J.
            columns = [point(rod, weight, *unit)[2] for unit in units]
            J, J_q = (np.stack(x, axis=1) for x in zip(*columns, strict=True))
            yield mass, position, (J, J_q, v, a, v_q, a_q, a_v)
