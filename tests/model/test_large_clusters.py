"""Clusters of more columns than an integer has bits, and rotors with more inertia than their links."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from support.messages import warns
from support.tolerances import EXACT

import pin_clusters as pc
from pin_clusters.model.expansion import expand


def chain(n: int) -> pin.Model:
    """Return n links of 0.1 m whose axes alternate."""
    tree = pin.Model()
    axes = (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ)
    parent = 0
    for i in range(n):
        placement = pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.1]))
        parent = tree.addJoint(parent, axes[i % 3](), placement, f"j{i}")
        tree.appendBodyToJoint(parent, pin.Inertia.FromBox(1.0, 0.1, 0.1, 0.1), pin.SE3.Identity())
    return tree


@pytest.mark.jitless
@pytest.mark.parametrize(
    "n",
    [
        5,
        pytest.param(63, marks=pytest.mark.ci),
        pytest.param(64, marks=pytest.mark.ci),
        pytest.param(75, marks=pytest.mark.ci),
    ],
)
def test_one_cluster_of_the_whole_chain(n: int) -> None:
    rng = np.random.default_rng(n)
    coupling = pc.LinearCoupling(f"j{n - 1}", {f"j{i}": rng.normal() for i in range(n - 1)})
    rotor = pc.Rotor(["j1", "j3"], [4.0, 3.0], axial_inertia=1e-3, axis=(0, 0, 1), carrier="j2")
    model = pc.ClusterModel(chain(n), [coupling, rotor])
    data = model.createData()
    q, v, a = pc.randomConfiguration(model), rng.normal(size=model.nv), rng.normal(size=model.nv)

    full = expand(model)
    full_data, qf = full.tree.createData(), full.configuration(q)
    M = full.G.T @ pin.crba(full.tree, full_data, qf) @ full.G
    tau = full.G.T @ pin.rnea(full.tree, full_data, qf, full.G @ v, full.G @ a)

    assert np.abs(pc.crba(model, data, q) - M).max() < EXACT * np.abs(M).max()
    assert np.abs(pc.rnea(model, data, q, v, a) - tau).max() < EXACT * np.abs(tau).max()
    residual = M @ (pc.aba(model, data, q, v, tau) - a)
    assert np.abs(residual).max() < EXACT * np.abs(M).max() * np.abs(a).max()
    inverse = pc.computeMinverse(model, data, q)
    assert np.abs(inverse @ M - np.eye(model.nv)).max() < EXACT * np.linalg.cond(M)


@pytest.mark.jitless
def test_rotor_with_more_inertia_than_its_link() -> None:
    # a link that cannot hold the rotor: unphysical, but inverse dynamics is still that of the rotor as a body
    with warns(pc.PinClustersWarning, "'j1' axial_inertia 0.01"):
        model = pc.ClusterModel(chain(3), [pc.Rotor("j2", 5.0, axial_inertia=0.01)])
    data, full = model.createData(), expand(model)
    rng = np.random.default_rng(0)
    q, v, a = pc.randomConfiguration(model), rng.normal(size=3), rng.normal(size=3)
    tau = full.G.T @ pin.rnea(full.tree, full.tree.createData(), full.configuration(q), full.G @ v, full.G @ a)
    assert np.abs(pc.rnea(model, data, q, v, a) - tau).max() < EXACT * np.abs(tau).max()
