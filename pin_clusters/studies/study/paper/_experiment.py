"""What the experiments share: JSON, tables, a figure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...._support.docstrings import STUDY, stock
from .._samples import write_json
from ..plots import head as head
from ..plots import new_figure, save_figure
from ..plots import tidy as tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# what the experiments take, besides their own
documented = stock(STUDY, "Args:\n    drop_rotors: As in ``study.run``.")
Rows = list[tuple[str, ...]]


class Experiment(ABC):
    """What an experiment has found."""

    @property
    @abstractmethod
    def title(self) -> str:
        """What was done, in one sentence."""

    @property
    @abstractmethod
    def summary(self) -> str:
        """What came out, in one sentence."""

    @abstractmethod
    def as_dict(self) -> dict[str, Any]:
        """Return plain numbers and text, ready for JSON."""

    @abstractmethod
    def tables(self) -> list[tuple[str, Rows]]:
        """Return tables as text: a title, and rows of which the first is the head."""

    @abstractmethod
    def draw(self, figure: Figure) -> None:
        """Draw it on an empty figure."""

    def write_json(self, path: Path) -> None:
        """Write ``as_dict`` to a file.

        Raises:
            OSError: It cannot be written.
        """
        write_json(self.as_dict(), path)

    def save_plot(self, path: Path) -> None:
        """Draw it and write it as PNG.

        Raises:
            OSError: It cannot be written.
        """
        figure = new_figure()
        self.draw(figure)
        save_figure(figure, path, facecolor="white")


def panels(figure: Figure, n: int, left: float, gap: float) -> list[Any]:
    """Make a row of panels that leaves room for a head."""
    height = 4.9
    figure.set_size_inches(9.6, height)
    top, bottom = 1.0 - 1.4 / height, 0.5 / height
    grid = figure.add_gridspec(1, n, left=left, right=0.98, top=top, bottom=bottom, wspace=gap)
    return [figure.add_subplot(grid[0, k]) for k in range(n)]


def named(axes: Any, title: str, x: str, y: str) -> None:
    """Name a panel and its axes, and tidy it."""
    axes.set_title(title, fontsize=10, loc="left")
    axes.set_xlabel(x, fontsize=9)
    axes.set_ylabel(y, fontsize=9)
    tidy(axes)


def rotors(drop_rotors: bool) -> str:
    """Say what became of the rotors of the approximations."""
    return "left out of the approximations" if drop_rotors else "locked into their carriers in the approximations"
