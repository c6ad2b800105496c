"""Modules that stood elsewhere in earlier versions: programs and pickles that name the old places find the new ones."""

from __future__ import annotations

import importlib
import pickle
import sys
import warnings
from collections.abc import Iterator

import pytest
from support.messages import raises, warns

import pin_clusters as pc
from pin_clusters._support import moved


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    """Forget the old names again, by which other tests would find modules without a warning."""
    names = set(sys.modules)
    yield
    for name in set(sys.modules) - names:
        if name.startswith("pin_clusters.") and sys.modules[name].__name__ != name:
            del sys.modules[name]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("study", "studies.study"),
        ("loaders", "files.readers"),
        ("study.random_chains", "studies.study.random_chains"),
        ("studies.study.published", "studies.study.paper.published"),
        ("study.metrics.forward", "studies.study.metrics.dynamics"),
        ("data", "model.cluster_data"),
        ("programs", "export"),
    ],
)
def test_old_places_lead_to_the_new_ones(old: str, new: str) -> None:
    with warns(DeprecationWarning) as told:
        module = importlib.import_module(f"pin_clusters.{old}")
    assert all(f"pin_clusters.{name}" in str(told[-1].message) for name in (old, new))
    assert module is importlib.import_module(f"pin_clusters.{new}")
    # and it is still what it was: reloading, pickling and resources ask for these
    assert module.__name__ == f"pin_clusters.{new}"
    assert module.__spec__ is not None
    assert module.__spec__.name == module.__name__


@pytest.mark.parametrize("name", ["casadi", "visualize"])
def test_public_names_import_without_a_warning(name: str) -> None:
    pytest.importorskip("casadi")
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        importlib.import_module(f"pin_clusters.{name}")


def test_folders_that_were_split_lead_to_both() -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        tracing = importlib.import_module("pin_clusters.programs.tracing")
        codegen = importlib.import_module("pin_clusters.programs.codegen")
    assert "pin_clusters.programs.tracing has moved to pin_clusters.compiler.tracing." in str(told[-2].message)
    assert tracing is importlib.import_module("pin_clusters.compiler.tracing")
    assert codegen is importlib.import_module("pin_clusters.export.codegen")


def test_who_writes_the_import_is_warned_there() -> None:
    with warns(DeprecationWarning, "pin_clusters.verification.peers") as told:
        exec(compile("import pin_clusters.rivals", "theirs.py", "exec"), {})
    assert [one.filename for one in told] == ["theirs.py"]


def _polynomial() -> pc.ClusterModel:
    return pc.buildModelFromMJCF(
        """<mujoco><worldbody><body name="a"><joint name="j" axis="0 0 1"/><geom size=".1" mass="1"/>
        <body name="b" pos="0 0 .3"><joint name="k" axis="0 1 0"/><geom size=".1" mass="1"/></body></body></worldbody>
        <equality><joint joint1="k" joint2="j" polycoef="0 1 0.2 0 0"/></equality></mujoco>"""
    )


def test_pickles_that_name_old_places_load() -> None:
    model = pc.load("four_bar")
    found = pc.condition(model, model.createData(), model.q_reference)
    old = pickle.dumps(found, protocol=0).replace(b"algorithms.dynamics.condition", b"algorithms.condition")
    with warns(DeprecationWarning, "pin_clusters.algorithms.condition pin_clusters.algorithms.dynamics.condition"):
        assert repr(pickle.loads(old)) == repr(found)

    # a file that became part of another, in a folder that moved
    model = _polynomial()
    new = pickle.dumps(model, protocol=0)
    old = new.replace(b"pin_clusters.files.readers.mjcf._relations", b"pin_clusters.loaders.mjcf._polynomial")
    assert old != new
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        again = pickle.loads(old)
    assert any("mjcf._polynomial has moved to pin_clusters.files.readers.mjcf._rel" in str(one.message) for one in told)
    q = pc.randomConfiguration(model)
    assert (pc.crba(again, again.createData(), q) == pc.crba(model, model.createData(), q)).all()


def test_the_papers_measured_are_found_as_an_attribute_and_by_both_moves() -> None:
    now = importlib.import_module("pin_clusters.studies.study.paper.published")
    vars(pc.study).pop("published", None)  # an import by the earlier name leaves it there
    with warns(DeprecationWarning, "study.published study.paper.published") as told:
        assert pc.study.published is now
    assert [one.filename for one in told] == [__file__]
    with warns(DeprecationWarning):
        assert importlib.import_module("pin_clusters.study.published") is now
    with raises(AttributeError, "'pin_clusters.studies.study' 'publish'"):
        pc.study.publish  # noqa: B018


def test_names_of_all_that_stayed_are_found() -> None:
    assert pc.study is importlib.import_module("pin_clusters.studies.study")
    for name in ("nowhere", "studies.nowhere"):
        with pytest.raises(ModuleNotFoundError, match=rf"No module named 'pin_clusters\.{name}'"):
            importlib.import_module(f"pin_clusters.{name}")
    gone = "'pin_clusters.studies.study.nowhere'"
    with (
        warns(DeprecationWarning, "pin_clusters.study pin_clusters.studies.study"),
        raises(ModuleNotFoundError, gone),
    ):
        importlib.import_module("pin_clusters.study.nowhere")


def test_files_name_modules_as_earlier_versions_did() -> None:
    assert moved.formerly("pin_clusters.studies.study.random_chains") == "pin_clusters.study.random_chains"
    assert moved.formerly("pin_clusters.model") == "pin_clusters.model"
    assert moved.formerly("my.own") == "my.own"
