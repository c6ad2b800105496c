"""Numbers that machine code reads: a wrong name, place or kind is refused before there is machine code of it."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from llvmlite import ir
from support.messages import raises

import pin_clusters as pc
from pin_clusters._engine.calls import Desk, Recollection, Watch, desk, module, records
from pin_clusters._engine.calls.record import Array, Count, Record, Room
from pin_clusters._engine.calls.writer import I64, Module, Numbers, Writer

# the published inertias of some robots are no real bodies'
pytestmark = pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")


def test_unknown_names_are_refused() -> None:
    data = records.DataDesk()
    with pytest.raises(AttributeError):
        data.nvv = 7
    with raises(AttributeError, "DataDesk left_at"):
        data.put(left_at=np.zeros(3))
    with raises(AttributeError, "ModelDesk aba"):
        records.ModelDesk()["aba"] = 1, 2
    assert not data.numbers.any()


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("nv", True), ("nv", np.zeros(1)), ("nv", 2.0), ("M_live", 1), ("zeros", 5), ("zeros", np.zeros(2)),
        ("zeros", np.zeros((3, 2))[:, 0]), ("zeros", np.zeros(3, np.float32)), ("regressor", (3,)), ("aba", (1, 2, 3)),
        ("known", Watch([])), ("tree_words", Recollection()), ("matrix", (3, 4)), ("coupling", 1.5),
    ],
)  # fmt: skip
def test_what_is_not_of_the_kind_is_refused(name: str, wrong: Any) -> None:
    data = records.DataDesk(nv=3)
    before = data.numbers.copy()
    with pytest.raises(TypeError):
        data[name] = wrong
    assert np.array_equal(data.numbers, before)


def test_numbers_are_read_as_they_were_written() -> None:
    asked, frames = np.zeros((4, 5), np.int64), np.zeros(6)
    plan = records.Plan(asked=asked, placements=frames, gram=(2, 3), accelerations=True)
    assert plan.asked is asked
    assert (plan.gram, plan.accelerations) == ([2, 3], True)
    where = records.Plan.asked.place
    assert plan.numbers[where : where + 3].tolist() == [asked.ctypes.data, 4, 5]
    assert any(x is frames for x in Desk(plan))


def test_a_desk_owns_what_its_numbers_lead_to_also_when_they_lead_elsewhere() -> None:
    first, second = np.zeros(3), np.zeros(3)
    data = records.DataDesk(nv=3, zeros=first)
    before = Desk(data)
    data.zeros = second
    after = Desk(data)
    assert before.numbers is after.numbers
    assert [any(x is y for x in d) for d in (before, after) for y in (first, second)] == [True, False, False, True]


@pytest.mark.ci
@pytest.mark.parametrize("robot", ["four_bar", "mini_cheetah"])
def test_data_and_all_that_they_own_end_without_the_collector(robot: str) -> None:
    model = pc.load(robot)
    data, q, v = model.createData(), pc.neutral(model), np.ones(model.nv)
    contacts = [pc.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, 1, pin.LOCAL)] * (robot == "mini_cheetah")
    datas = [c.createData() for c in contacts]
    gc.collect()
    gc.disable()
    try:
        for _ in range(2):
            pc.aba(model, data, q, v, v)
            pc.forwardKinematics(model, data, q)
            pc.computeABADerivatives(model, data, q, v, v)
            pc.inverse_operational_inertia(model, data, q, [1])
            pc.constraintDynamics(model, data, q, v, v, contacts, datas)
            pc.computeConstraintDynamicsDerivatives(model, data, contacts, datas)
            pc.computeStaticRegressor(model, data, q)
        seen = [weakref.ref(x) for x in data._desk.record.owned.values() if isinstance(x, np.ndarray)]
        assert len(seen) > 20
        del data
        of_model = model._index, model._tables.velocities
        assert not [x for x in (y() for y in seen) if x is not None and not any(x is y for y in of_model)]
    finally:
        gc.enable()


def written(kind: type[Record]) -> Numbers:
    return Numbers(writer := Writer(Module(), "f"), kind, writer.f.args[0])


def test_machine_code_knows_of_which_record_an_address_is() -> None:
    with raises(AttributeError, "Plan left_at"):
        _ = written(records.Plan).left_at
    with raises(AttributeError, "ModelDesk asked"):
        written(records.ModelDesk).put(asked=I64(1))
    with raises(AttributeError, "nv"):
        written(records.Way).at("nv")
    assert isinstance(written(records.DataDesk).nv, ir.LoadInstr)


def test_each_kind_of_record_has_its_places_in_order() -> None:
    class Small(Record):
        n = Count()
        x = Array(2)
        y = Room("n")

    assert [(f.place, f.width) for f in Small.fields.values()] == [(0, 1), (1, 3), (4, 1)]
    assert Small.size == 5


def test_the_table_has_a_place_for_each_name() -> None:
    assert len(set(desk.TABLE)) == len(desk.TABLE)
    assert f"[{len(desk.TABLE)} x i64]" in module.module("moves")


def test_no_number_is_hidden_by_what_else_has_its_name() -> None:
    kinds = Record.__subclasses__()
    assert len(kinds) > 8
    for kind in kinds:
        assert not [name for name in kind.fields if hasattr(Numbers, name) or hasattr(Record, name)], kind
