"""The paper's chains."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from support.messages import raises
from support.urdf_text import coupling_matrix, rows

from pin_clusters._support.trees import spin_defect
from pin_clusters.constraints import Belt, Gear
from pin_clusters.errors import LoadError
from pin_clusters.files.readers.chains import belt_chain, geared_chain

Z = np.array([0.0, 0.0, 1.0])


def planar_mass_matrix(n: int, rotor_rows: np.ndarray, carried_by: list[int], q: np.ndarray) -> np.ndarray:
    """Mass matrix of a planar chain in closed form: links of 1 m and 1 kg, 1 kg m^2 about their middles."""
    absolute = np.tril(np.ones((n, n)))  # absolute angular velocity of link i
    angles = absolute @ q
    M = np.zeros((n, n))
    joint = np.zeros((2, n))
    for i in range(n):
        along = np.array([-np.sin(angles[i]), np.cos(angles[i])])
        middle = joint + 0.5 * np.outer(along, absolute[i])
        M += middle.T @ middle + np.outer(absolute[i], absolute[i])
        joint = joint + np.outer(along, absolute[i])
    for row, carrier in zip(rotor_rows, carried_by, strict=True):
        w = row + (absolute[carrier] if carrier >= 0 else 0.0)
        M += 1e-4 * np.outer(w, w)
    return M


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_geared_chain_in_closed_form(n):
    tree, gears = geared_chain(n)
    assert all(isinstance(g, Gear) for g in gears)
    assert (tree.nv, len(gears)) == (2 * n, n)
    q = np.random.default_rng(0).uniform(-1.0, 1.0, n)
    G = coupling_matrix(tree, gears)
    M = G.T @ pin.crba(tree, tree.createData(), G @ q) @ G
    expected = planar_mass_matrix(n, 6.0 * np.eye(n), list(range(-1, n - 1)), q)
    np.testing.assert_allclose(M, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(tree.gravity.linear, [9.81, 0.0, 0.0])


@pytest.mark.parametrize("n", [2, 6, 12])
def test_belt_chain_in_closed_form(n):
    tree, couplings = belt_chain(n)
    q = np.random.default_rng(0).uniform(-1.0, 1.0, n)
    G = coupling_matrix(tree, couplings)
    M = G.T @ pin.crba(tree, tree.createData(), G @ q) @ G
    drive = 6.0 * np.eye(n)
    drive[np.arange(1, n, 2), np.arange(0, n, 2)] = 6.0
    carriers = [2 * (i // 2) - 1 for i in range(n)]
    np.testing.assert_allclose(M, planar_mass_matrix(n, drive, carriers, q), rtol=1e-12, atol=1e-12)
    assert [type(c) for c in couplings[:2]] == [Gear, Belt]
    assert rows(tree, couplings)["rotor_2"] == ({"joint_1": 6.0, "joint_2": 6.0}, 0.0)


@pytest.mark.parametrize("chain", [geared_chain, belt_chain])
@pytest.mark.parametrize("root", [None, pin.JointModelFreeFlyer()])
def test_random_chains(chain, root):
    n = 8
    tree, couplings = chain(n, seed=3, root_joint=root)
    again, _ = chain(n, seed=3, root_joint=root)
    other, _ = chain(n, seed=4, root_joint=root)
    assert tree == again
    assert tree != other
    assert tree.check(tree.createData())  # depth-first
    for k in range(1, n + 1):
        rotor, joint = tree.getJointId(f"rotor_{k}"), tree.getJointId(f"joint_{k}")
        assert spin_defect(tree.inertias[rotor], Z) == ""
        assert 0.5 <= tree.inertias[joint].mass <= 2.0
        low, middle, high = np.linalg.eigvalsh(tree.inertias[joint].inertia)
        assert low + middle >= high
    ratios = [abs(c.ratio) for c in couplings]
    assert 3.0 <= min(ratios) <= max(ratios) <= 10.0
    assert tree.existBodyName("joint_1_link")
    assert tree.existBodyName("rotor_8_link")


@pytest.mark.parametrize("n", [0, -1, 2.0, "12", None, True])
def test_bad_length(n):
    with raises(LoadError, "geared_chain n"):
        geared_chain(n)


@pytest.mark.parametrize("n", [1, 7])
def test_odd_belt_chain(n):
    with raises(LoadError, f"n={n + 1}"):
        belt_chain(n)


@pytest.mark.parametrize("seed", [-1, 0.5, "a", False])
def test_bad_seed(seed):
    with raises(LoadError, "seed"):
        geared_chain(3, seed=seed)
