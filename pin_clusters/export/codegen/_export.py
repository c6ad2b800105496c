"""The function ``pc.codegen.export``, which writes the source code of a robot with files to build and test the code."""

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
    """The result of ``pc.codegen.export``.

    Attributes:
        name: The name ROBOT, which is the prefix of all file and function names.
        files: Paths of all written files.
        notes: For each file that could not be created, the reason. The other files work without this file.

    Example:
        >>> import tempfile, pin_clusters as pc
        >>> exported = pc.codegen.export(pc.load("four_bar"), tempfile.mkdtemp(), "rnea")
        >>> exported.name, "four_bar.h" in [file.name for file in exported.files]
        ('four_bar', True)
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
    """Write functions of a robot as C code to a folder, for use in C and C++ programs.

    The folder then contains ROBOT.c and ROBOT.h (see ``pc.codegen.c``), ROBOT.hpp (the same functions for Eigen), the
    machine code ROBOT.o and ROBOT.so, CMakeLists.txt, ROBOT.pc for pkg-config, and test/ROBOT_test.c. This test program
    compares every function with reference values from this package. If an error occurs, no file is written.

    Args:
        directory: The folder; it is created if it is missing.
        target: Target machine of the machine code: a processor (``x86-64-v3``), a triple (``aarch64-linux-gnu``), or a
            triple and a processor, separated by a comma. The default is this machine.

    Returns:
        The name, the written files, and notes on files that could not be created.

    Raises:
        UnknownNameError: A function, ``real`` or ``target`` is unknown, or ``name`` is not a valid identifier in C.
        ExportError: The folder cannot be written.
        TraceError: The results of a function, computed in ``real``, deviate too much from the reference values.

    Example:
        >>> import tempfile, pin_clusters as pc
        >>> exported = pc.codegen.export(pc.load("four_bar"), tempfile.mkdtemp(), ("rnea", "step"))
        >>> sorted(file.suffix for file in exported.files if file.stem == "four_bar")[:3]
        ['.c', '.h', '.hpp']
    """
    exported, robot = functions_of(model, functions, frames), name_of(model.name, name)
    source = texts(model, exported, check_real(real), name)
    machine: Machine = machine_of(target)
    with whole(Path(directory), (f"{robot}.o", f"{robot}.so")) as stage:
        (stage / "test").mkdir()
        notes = machine.build(stage, model, exported, real, robot)
        written = {
            f"{robot}.c": source.source,
            f"{robot}.h": source.header,
            f"{robot}.hpp": header(model, exported, real, robot),
            "CMakeLists.txt": cmake(robot),
            f"{robot}.pc": pkg_config(robot, (stage / f"{robot}.o").exists()),
            f"test/{robot}_test.c": text_of_test(model, exported, real, robot, frames or ()),
        }
        for file, text in written.items():
            (stage / file).write_text(text, encoding="ascii")
        files = sorted(p.relative_to(stage) for p in stage.rglob("*") if p.is_file())
    return Exported(robot, tuple(Path(directory) / file for file in files), tuple(notes))


__all__ = ["ExportError", "whole"]


@contextmanager
def whole(folder: Path, stale: Sequence[str] = ()) -> Iterator[Path]:
    """Yield a temporary folder; if no error occurs, the files in it are moved to ``folder`` at the end.

    Files in ``stale`` (from an earlier export) are removed if they are not written again. Other files do not change.
    """
    missing = [p for p in (folder, *folder.parents) if not p.exists()]
    with ExitStack() as cleanup:
        cleanup.callback(_take_away, missing)
        make_folder(folder, ExportError)
        try:
            stage = TemporaryDirectory(prefix=".export-", dir=folder, ignore_cleanup_errors=True)
            yield Path(cleanup.enter_context(stage))
            moved = _move(Path(stage.name), folder)
            for name in stale:
                if name not in moved:
                    (folder / name).unlink(missing_ok=True)
        except ExportError:
            raise
        except OSError as error:
            raise ExportError(f"cannot write to {folder}: {error.strerror or error}.") from None


def _move(stage: Path, folder: Path) -> set[str]:
    files = sorted(p.relative_to(stage) for p in stage.rglob("*") if p.is_file())
    for file in files:  # All checks must run before a file is replaced.
        (folder / file.parent).mkdir(parents=True, exist_ok=True)
        if (folder / file).is_dir():
            raise ExportError(f"{folder / file} is a folder. Remove this folder, or export to another folder.")
    for file in files:
        os.replace(stage / file, folder / file)
    return {str(file) for file in files}


def _take_away(folders: list[Path]) -> None:
    with suppress(OSError):
        for p in folders:
            p.rmdir()
