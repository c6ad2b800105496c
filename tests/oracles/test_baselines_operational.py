"""Operational inertia without cluster algorithms: exact where it must be, wrong by what it leaves out elsewhere."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from samples import pool, trees
from support.frames import gap, some, with_frames
from support.messages import raises

import pin_clusters as pc
from pin_clusters.approximations.armature import independent_q, independent_v
from pin_clusters.verification import reference
from pin_clusters.verification.baselines import armature, armature_model, projection, sparse, unit_forces

REFERENCES = (pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED)
LIMIT = 1e-13
# the system of gears is as ill-conditioned as their ratios make it, on top of M
SPARSE = 1e-10
SLOPPY = 30.0


@pool.each()
def test_sparse_factorisation_is_exact(key: pool.Key, rng: np.random.Generator) -> None:
    case = pool.case(key)
    model, q = with_frames(case.model, rng), case.pose(rng)
    exact = projection.createData(model)
    if exact.rods is not None:
        with raises(pc.NotAvailableError):
            sparse.createData(model)
        return
    data, names = sparse.createData(model), some(model, rng)
    condition = float(np.linalg.cond(projection.crba(model, exact, q)))
    for axes in REFERENCES:
        rows = [int(r) for r in rng.permutation(6 * len(names))[:7]]
        for picked in (None, "linear", rows):
            found = sparse.inverse_operational_inertia(model, data, q, names, axes, picked)
            dense = projection.inverse_operational_inertia(model, exact, q, names, axes, picked)
            assert gap(found, dense, condition) < SPARSE + SLOPPY * case.exact
            assert gap(reference.inverse_operational_inertia(model, q, names, axes, picked), dense, condition) < (
                LIMIT + SLOPPY * case.exact
            )


@pytest.mark.jitless
def test_jacobians_are_those_of_pinocchio(rng: np.random.Generator) -> None:
    """Where nothing is coupled, the rows of the reference and of the baselines are Pinocchio's own."""
    model = with_frames(trees.random_tree(rng, 6, floating=True).build("depth_first"), rng)
    tree, q = model.tree, trees.random_state(model, rng)[0]
    data = tree.createData()
    names = some(model, rng)
    M = projection.crba(model, projection.createData(model), q)
    for axes in REFERENCES:
        J = np.vstack([pin.computeFrameJacobian(tree, data, q, tree.getFrameId(n), axes) for n in names])
        assert gap(reference.frame_jacobian(model, q, names, axes), J) < LIMIT
        dense = J @ np.linalg.solve(M, J.T)
        found = projection.inverse_operational_inertia(model, projection.createData(model), q, names, axes)
        assert gap(found, dense, float(np.linalg.cond(M))) < LIMIT
        own = armature.createData(model)
        assert gap(armature.inverse_operational_inertia(model, own, q, names, axes), dense, 1e2) < LIMIT


@pytest.mark.jitless
@pytest.mark.parametrize("floating", [False, True])
def test_armature(floating: bool, rng: np.random.Generator) -> None:
    """Both ways are the same inertia, that of the approximate robot; it is not the exact one."""
    model = with_frames(trees.geared_arm(floating=floating).build("shuffled", rng), rng)
    data, q = armature.createData(model), trees.random_state(model, rng)[0]
    names = ["j3 0", "r2 1", "j1 0", "j1 1"]
    A = armature.inverse_operational_inertia(model, data, q, names)
    approximate = armature_model(model)
    theirs = approximate.createData()
    own_q = q[independent_q(model, approximate)]
    assert sorted(independent_v(model, approximate)) == list(range(model.nv))
    M = np.triu(pin.crba(approximate, theirs, own_q))
    M = M + np.triu(M, 1).T
    ids = [approximate.getFrameId(n) for n in names]
    J = np.vstack([pin.computeFrameJacobian(approximate, theirs, own_q, i, pin.LOCAL) for i in ids])
    # frames of rotors moved to their carriers, at angle 0: so it is in the approximate robot as well
    condition = float(np.linalg.cond(M))
    assert gap(A, J @ np.linalg.solve(M, J.T), condition) < LIMIT
    contacts = armature.inverse_operational_inertia(model, data, q, names, how="cholesky")
    assert gap(contacts, A, condition) < 10.0 * LIMIT
    rows = [3, 0, 19]
    some_rows = armature.inverse_operational_inertia(model, data, q, names, rows=rows, how="cholesky")
    assert gap(some_rows, A[np.ix_(rows, rows)], condition) < 10.0 * LIMIT
    exact = pc.inverse_operational_inertia(model, model.createData(), q, names)
    assert gap(A, exact) > 1e-3
    with raises(pc.ArgumentTypeError, "how 'minverse' 'cholesky'"):
        armature.inverse_operational_inertia(model, data, q, names, pin.WORLD, how="cholesky")
    with raises(pc.ArgumentTypeError, "'dense'"):
        armature.inverse_operational_inertia(model, data, q, names, how="dense")


@pytest.mark.jitless
def test_workspaces_of_another_model_are_refused() -> None:
    one, two = trees.geared_arm().build(), trees.geared_arm().build()
    q = pc.neutral(one)
    for module, call in (
        (projection, projection.inverse_operational_inertia),
        (sparse, sparse.inverse_operational_inertia),
        (armature, armature.inverse_operational_inertia),
    ):
        with raises(pc.DataMismatchError, f"{module.__name__}.createData"):
            call(one, module.createData(two), q, [1])
    for module, call in (
        (projection, projection.inverse_input_matrix),
        (unit_forces, unit_forces.inverse_input_matrix),
    ):
        with raises(pc.DataMismatchError, f"{module.__name__}.createData"):
            call(one, module.createData(two), q)
    assert unit_forces.inverse_input_matrix(one, unit_forces.createData(one), q, np.zeros((one.nv, 0))).shape[1] == 0
    with raises(pc.UnknownNameError, "'hand'"):
        projection.inverse_operational_inertia(one, projection.createData(one), q, ["hand"])


def test_the_reference_shares_no_tables_with_the_kernel(rng: np.random.Generator) -> None:
    model = with_frames(trees.geared_arm().build(), rng)
    q = trees.random_state(model, rng)[0]
    right = reference.inverse_operational_inertia(model, q, ["j3 0"])
    data = model.createData()
    assert gap(pc.inverse_operational_inertia(model, data, q, ["j3 0"]), right, 1e3) < LIMIT
    model.tables.params[:] *= 1.001
    assert gap(reference.inverse_operational_inertia(model, q, ["j3 0"]), right) == 0.0
    assert gap(pc.inverse_operational_inertia(model, data, q, ["j3 0"]), right) > 1e-6
