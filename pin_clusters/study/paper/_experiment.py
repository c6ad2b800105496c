"""What the experiments share: JSON, tables, a figure."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..plots import quiet_about_its_folder

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
        path.write_text(json.dumps(self.as_dict(), indent=2) + "\n", encoding="utf-8")

    def save_plot(self, path: Path) -> None:
        """Draw it and write it as PNG.

        Raises:
            OSError: It cannot be written.
        """
        # not pyplot: it would look for a window system, and takes longer to import
        with quiet_about_its_folder():
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure

        figure = Figure(dpi=110)
        FigureCanvasAgg(figure)
        self.draw(figure)
        figure.savefig(path, facecolor="white")


def tidy(axes: Any) -> None:
    """Thin grid, no frame at the top and at the right."""
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=8, length=2.5)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def head(figure: Any, title: str, lines: tuple[str, ...], labels: dict[str, str], left: float) -> None:
    """Write title, lines and legend above the panels; 1.3 inches are needed."""
    from matplotlib.lines import Line2D

    from ..plots import STYLES

    height = figure.get_figheight()
    figure.text(left, 1.0 - 0.3 / height, title, fontsize=13)
    for k, line in enumerate(lines):
        figure.text(left, 1.0 - (0.53 + 0.19 * k) / height, line, fontsize=9, color="#333333")
    handles = [Line2D([], [], label=label, **STYLES[key]) for key, label in labels.items()]
    figure.legend(
        handles=handles, ncols=len(handles), fontsize=9, frameon=False, loc="upper left", handlelength=3.2,
        borderaxespad=0.0, borderpad=0.0, bbox_to_anchor=(left, 1.0 - (0.6 + 0.19 * len(lines)) / height),
    )  # fmt: skip


def rotors(drop_rotors: bool) -> str:
    """Say what became of the rotors of the approximations."""
    return "left out of the approximations" if drop_rotors else "locked into their carriers in the approximations"
