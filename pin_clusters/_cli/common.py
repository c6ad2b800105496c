"""Load robots, check output paths, and print messages on stderr, for all commands."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from .._support.whole_files import make_folder, refused
from ..errors import LoadError, PinClustersError, PinClustersWarning, UnknownNameError, did_you_mean

if TYPE_CHECKING:
    from rich.console import Console

    from ..model import ClusterModel


class OutputError(PinClustersError, OSError):
    """An output file or folder cannot be written, or a port cannot be used."""


def error_line(error: BaseException | str) -> None:
    click.secho("error: " + " ".join(str(error).split()), fg="red", err=True)


@contextmanager
def warnings_as_lines() -> Iterator[None]:

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        label = "warning" if issubclass(category, PinClustersWarning) else category.__name__
        click.secho(f"{label}: " + " ".join(str(message).split()), fg="yellow", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", PinClustersWarning)
        warnings.showwarning = show
        yield


def with_options(model: ClusterModel, robot: str, independent: Sequence[str] | None = None) -> ClusterModel:
    """Apply --motors, --rotor and --from-armature to the model, then make the joints in ``independent`` independent."""
    from ..algorithms.dynamics.with_independent import with_independent
    from ..files.motor_keys import ENDING
    from ..files.readers.motors import with_motors
    from ..files.writers.motors import from_armature

    meta, motor_file = click.get_current_context().meta, Path(robot).parent / f"{Path(robot).stem}{ENDING}"
    if not meta.get("motors") and Path(robot).is_file() and motor_file.is_file():
        click.secho(f"note: {motor_file} is not read automatically. Add --motors {motor_file}.", fg="yellow", err=True)
    if (stated := [_stated(model, x) for x in meta.get("rotor", ())]) or meta.get("motors"):
        model = with_motors(model, meta.get("motors") or None, stated)
    if ratio := meta.get("from_armature"):
        model = with_motors(model, from_armature(model, ratio))
    return with_independent(model, independent)[0] if independent else model


def _stated(model: ClusterModel, given: str) -> tuple[str, dict[str, str]]:
    pattern, _, numbers = (x.strip() for x in given.partition("="))
    if not pattern or not 1 <= numbers.count(",") <= 2:
        raise click.UsageError(f"--rotor {given!r} must be JOINT=RATIO,INERTIA, such as 'calf=12.1,1.1e-4'.")
    joint = pattern if pattern in list(model.own_tree.names) else f"*{pattern}"
    values = dict(zip(("ratio", "rotor_inertia", "armature"), numbers.split(","), strict=False))
    return f"--rotor {given!r}", {"joint": joint, **values}


def load(what: str, root_joint: Literal["default"] | None = "default") -> ClusterModel:
    """Load a robot by name or from a file; if ``root_joint`` is None, a robot loaded by name has a fixed base."""
    from ..files import readers as loaders

    names = loaders.robots()
    if what in names:
        return loaders.load(what, root_joint=root_joint)
    path = Path(what)
    if path.is_file() or (path / "robot.yaml").is_file():
        return loaders.open_robot(what)
    if path.is_dir():
        raise LoadError(f"{what} is a folder. Specify a file or the name of a robot.{_known(what, names)}")
    if path.suffix or os.sep in what:
        raise LoadError(f"No such file: {what}. Specify an existing file, or one of: {', '.join(names)}.")
    raise UnknownNameError(f"No such robot or file: {what!r}.{_known(what, names)}")


def floating(what: str) -> ClusterModel:
    """Load a robot with a floating base: either the free-flyer defined in the file, or one added above the root."""
    from pinocchio import JointModelFreeFlyer

    from ..files import readers as loaders
    from ..studies.study.trajectories import floating_base

    if what in loaders.robots():
        return loaders.load(what, root_joint=JointModelFreeFlyer())
    if not Path(what).exists():
        return load(what)  # raises LoadError or UnknownNameError
    try:
        return loaders.open_robot(what, JointModelFreeFlyer())
    except LoadError:
        model = loaders.open_robot(what)  # An MJCF file may already have a free joint; a second one raises an error.
        if floating_base(model) is None:
            raise
        return model


def _known(what: str, names: Sequence[str]) -> str:
    return did_you_mean(what, names, limit=len(names))


def check_writable(path: Path, option: str) -> None:
    if path.is_dir():
        raise OutputError(f"{path} is a folder. Specify a file, such as {path / 'robot.html'}.")
    folder = path.parent
    if not folder.is_dir():
        raise OutputError(f"the folder {folder} of {path.name} does not exist. Create it or choose another {option}.")
    with refused(OutputError, path, f" Choose another {option}."):
        if path.exists() and not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        with tempfile.TemporaryFile(dir=folder):
            pass


@contextmanager
def output_folder(folder: Path) -> Iterator[None]:
    """Create a folder or raise ``OutputError``; if the ``with`` block fails, remove the new folders that are empty."""
    missing = [p for p in (folder, *folder.parents) if not p.exists()]
    make_folder(folder, OutputError, " with --output")
    try:
        yield
    except BaseException:
        with suppress(OSError):
            for p in missing:
                p.rmdir()  # raises OSError if the folder is not empty
        raise


def written(folder: Path) -> AbstractContextManager[None]:
    return refused(OutputError, f"to {folder}")


def say_written(out: Console, *files: Path) -> None:
    out.print(f"Written: {', '.join(map(str, files))}", soft_wrap=True)


def console() -> Console:
    from rich.console import Console

    terminal = Console(highlight=False)
    return terminal if terminal.is_terminal else Console(highlight=False, width=160)


class ProgressBar(AbstractContextManager["ProgressBar"]):
    """A progress bar on stderr, which appears only on a terminal and only after one second."""

    def __init__(self, title: str) -> None:
        self.title = title
        self._start = time.monotonic()
        self._bar: Any = None  # created after one second
        self._task: Any = None
        self._enabled = sys.stderr.isatty()

    def __call__(self, done: int, total: int) -> None:
        if not self._enabled or (self._bar is None and time.monotonic() - self._start < 1.0):
            return
        if self._bar is None:
            from rich.console import Console
            from rich.progress import Progress

            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task(self.title, total=total)
        self._bar.update(self._task, completed=done)

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()
