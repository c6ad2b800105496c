"""``pc.codegen.export``: a folder with the source of a robot, and all that is needed to build, find and check it."""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from ..._support.docstrings import stock
from ..._support.whole_files import make_folder
from ...errors import ExportError
from ...model import ClusterModel
from ._building import cmake, pkg_config
from ._c import texts
from ._eigen import header
from ._exported_function import COMMON, DEFAULT, Wanted, check_real, functions_of
from ._machine import Machine, machine_of
from ._names import name_of
from ._test_program import text_of_test


class Exported(NamedTuple):
    """What was written.

    Attributes:
        name: ROBOT, what the names of files and functions begin with.
        files: All files.
        notes: What could not be made, and why; what is there works without it.
    """

    name: str
    files: tuple[Path, ...]
    notes: tuple[str, ...]


@stock(COMMON)
def export(
    model: ClusterModel,
    directory: str | Path,
    functions: Wanted = DEFAULT,
    *,
    real: str = "double",
    frames: Sequence[str] | None = None,
    target: str | None = None,
    name: str | None = None,
) -> Exported:
    """Write functions of a robot for programs in C and C++.

    The folder gets ROBOT.c and ROBOT.h (see ``pc.codegen.c``), ROBOT.hpp (the same on Eigen's vectors), ROBOT.o and
    ROBOT.so in machine code, CMakeLists.txt, ROBOT.pc for pkg-config, and test/ROBOT_test.c, which compares every
    function with numbers that the kernels compute now. All is written, or nothing.

    Args:
        directory: The folder; it is made if it is missing.
        target: For which machine: a processor (``x86-64-v3``), a triple (``aarch64-linux-gnu``), or both with a comma
            between; by default this one.

    Returns:
        Names of what was written, and notes on what could not be made.

    Raises:
        UnknownNameError: There is no such function, type of numbers or target, or the name is none in C.
        ExportError: The folder cannot be written.
        TraceError: A function in this type of numbers is too far off what the kernels compute.
    """
    made, robot = functions_of(model, functions, frames), name_of(model.name, name)
    source = texts(model, made, check_real(real), name)
    machine: Machine = machine_of(target)
    with whole(Path(directory), (f"{robot}.o", f"{robot}.so")) as stage:
        (stage / "test").mkdir()
        notes = machine.build(stage, model, made, real, robot)
        written = {
            f"{robot}.c": source.source,
            f"{robot}.h": source.header,
            f"{robot}.hpp": header(model, made, real, robot),
            "CMakeLists.txt": cmake(robot),
            f"{robot}.pc": pkg_config(robot, (stage / f"{robot}.o").exists()),
            f"test/{robot}_test.c": text_of_test(model, made, real, robot, frames or ()),
        }
        for file, text in written.items():
            (stage / file).write_text(text, encoding="ascii")
        files = sorted(p.relative_to(stage) for p in stage.rglob("*") if p.is_file())
    return Exported(robot, tuple(Path(directory) / file for file in files), tuple(notes))


__all__ = ["ExportError", "whole"]


@contextmanager
def whole(folder: Path, stale: Sequence[str] = ()) -> Iterator[Path]:
    """Give a new folder to write to; when all is written, its files take their places in another, or nothing does.

    Other files there stay, but for ``stale`` ones of an earlier export, which go if they are not written again.
    """
    missing = [p for p in (folder, *folder.parents) if not p.exists()]
    with ExitStack() as left:
        left.callback(_take_away, missing)
        make_folder(folder, ExportError)
        try:
            stage = TemporaryDirectory(prefix=".export-", dir=folder, ignore_cleanup_errors=True)
            yield Path(left.enter_context(stage))
            moved = _move(Path(stage.name), folder)
            for name in stale:
                if name not in moved:
                    (folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise ExportError(f"cannot write to {folder}: {error.strerror or error}.") from None


def _move(stage: Path, folder: Path) -> set[str]:
    files = sorted(p.relative_to(stage) for p in stage.rglob("*") if p.is_file())
    for file in files:  # what could refuse is seen before anything is replaced
        (folder / file.parent).mkdir(parents=True, exist_ok=True)
        if (folder / file).is_dir():
            raise ExportError(f"{folder / file} is a folder; remove it, or choose another one.")
    for file in files:
        os.replace(stage / file, folder / file)
    return {str(file) for file in files}


def _take_away(folders: list[Path]) -> None:
    """Remove folders, from the inside out, as long as there is nothing in them."""
    with suppress(OSError):
        for p in folders:
            p.rmdir()
