"""Messages are checked by names and numbers, and their text is compared with the golden files of tests/messages."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path

import pytest
from support import messages

import pin_clusters as pc

TESTS = Path(__file__).parents[1]


@pytest.fixture
def golden(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Golden files of this test alone, which are empty."""
    monkeypatch.setattr(messages, "FOLDER", tmp_path)
    monkeypatch.setattr(messages, "seen", {})
    monkeypatch.setattr(messages, "recording", False)
    return tmp_path


def record(golden: Path, monkeypatch: pytest.MonkeyPatch, ratio: float, whole: bool = False) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(messages, "recording", True)
        with messages.raises(pc.ConstraintError):
            pc.Gear("knee", "hip", ratio)
    messages.write(messages.seen, whole)


@pytest.mark.parametrize(
    ("piece", "text"),
    [
        ("3", "size 3."), ("0.3", "at 0.3 m"), ("-1", "got -1"), ("1e+12", "below 1e+12"), ("(2, 3)", "shape (2, 3)"),
        ("'j'", "joints 'i', 'j'"), ("'connect b'", "equality 'connect b'"), ("--drop", "with --drop 0.1"),
        ("model.tree.nvs", "use model.tree.nvs."), ("nvs", "use model.tree.nvs."), ("tau[0]", "tau[0] is nan"),
        ("hold='j'", "give hold='j'"), ("Rod('a', 'b')", "Rod('a', 'b') has mass"), ("<joint>", "no <joint>"),
    ],
)  # fmt: skip
def test_a_piece_is_found(piece: str, text: str) -> None:
    assert messages.pieces(f"{piece} more") == [piece, "more"]
    messages.check(ValueError(text), piece)
    with pytest.raises(AssertionError, match="not in the message: other"):
        messages.check(ValueError(text), f"{piece} other")


@pytest.mark.parametrize(
    ("piece", "text"),
    [
        ("3", "13"), ("3", "31"), ("3", "0.3"), ("3", "3.5"), ("3", "-3"), ("3", "1e-3"), ("3", "j3"), ("3", "3e5"),
        ("j", "j2"), ("knee", "knees"), ("'j'", "j"), ("j3", "j3.5"), ("-option", "--option"), ("(2, 3)", "(2,3)"),
    ],
)  # fmt: skip
def test_a_piece_is_no_part_of_another_one(piece: str, text: str) -> None:
    with pytest.raises(AssertionError, match="not in the message"):
        messages.check(ValueError(text), piece)


def test_a_text_that_is_not_recorded_fails(golden: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AssertionError, match=r"constraints\.txt does not contain.*--record-messages"):
        with messages.raises(pc.ConstraintError, "Gear('knee', 'hip') 0"):
            pc.Gear("knee", "hip", 0.0)
    record(golden, monkeypatch, 0.0)
    with messages.raises(pc.ConstraintError, "Gear('ankle', 'toe') 0"):  # only the names differ
        pc.Gear("ankle", "toe", 0.0)
    file = golden / "constraints.txt"
    file.write_text(file.read_text().replace("constraint.", "gear."))
    with pytest.raises(AssertionError, match="does not contain"), messages.raises(pc.ConstraintError):
        pc.Gear("knee", "hip", 0.0)


def test_a_whole_run_removes_obsolete_messages(golden: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record(golden, monkeypatch, 1e300)
    file = golden / "constraints.txt"
    kept = file.read_text()
    file.write_text("ConstraintError: obsolete,\n    of two lines\n" + kept)
    (golden / "model.txt").write_text("ModelError: obsolete\n")
    record(golden, monkeypatch, 2e300)
    assert "obsolete" in file.read_text()
    assert len(messages.read(file)) == 2
    record(golden, monkeypatch, 2e300, whole=True)
    assert file.read_text() == kept  # the old sample, although other numbers were seen
    assert list(golden.iterdir()) == [file]


def test_errors_of_others_are_not_recorded(golden: Path) -> None:
    with messages.raises(ValueError, "'x'"):
        float("x")
    with messages.raises(pc.ModelError, "'a' 3"):
        raise pc.ModelError("'a' has 3")


def test_warnings_are_recorded_with_their_subpackage(golden: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "recording", True)
    with warnings.catch_warnings(record=True) as others:
        warnings.simplefilter("always")
        with messages.warns(pc.PinClustersWarning, "2") as found:
            pc.Loop("a", "b", "revolute", [0.0, 2.0, 0.0])
            warnings.warn("another", UserWarning, stacklevel=1)
    assert [str(one.message) for one in others] == ["another"]
    assert {one.filename for one in found} == {__file__}
    assert list(messages.seen) == ["constraints"]


def test_folders_and_texts_of_causes_are_left_out() -> None:
    error = pc.LoadError(
        "cannot read '/tmp/pytest-of-me/x0/robot.urdf': no number 'x', of /home/me/robots. See http://a.b/c/d"
    )
    error.__cause__ = ValueError("no number 'x'")
    assert messages.sample(error) == (
        "LoadError: cannot read '<folder>/robot.urdf': <cause>, of <folder>/robots. See http://a.b/c/d"
    )


def test_no_test_pins_the_wording_of_a_message() -> None:
    ours = {name for name in vars(pc.errors) if name[0].isupper()} | {"TrajectoryError"}
    for file in TESTS.rglob("*.py"):
        text = file.read_text("utf-8")
        for call in ast.walk(ast.parse(text)) if "match=" in text else ():
            if isinstance(call, ast.Call) and any(word.arg == "match" for word in call.keywords):
                named = {getattr(node, "attr", getattr(node, "id", "")) for node in ast.walk(call.args[0])}
                assert not named & ours, f"{file}:{call.lineno}: use support.messages"
