"""What the experiments share: JSON, tables, a figure."""

from abc import ABC, abstractmethod
from pathlib import Path

from ...._support.docstrings import STUDY, stock
from ...pages.results import Result
from ..plots import Figure, new_figure, save_figure
from ._part import Rows

# what the experiments take, besides their own
documented = stock(STUDY, "Args:\n    drop_rotors: As in ``study.run``.")


class Experiment(Result, ABC):
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
    def tables(self) -> list[tuple[str, Rows]]:
        """Return tables as text: a title, and rows of which the first is the head."""

    @abstractmethod
    def draw(self, figure: Figure) -> None:
        """Draw it on an empty figure."""

    def save_plot(self, path: Path) -> None:
        """Draw it and write it as PNG.

        Raises:
            OSError: It cannot be written.
        """
        figure = new_figure()
        self.draw(figure)
        save_figure(figure, path, facecolor="white")


def rotors(drop_rotors: bool) -> str:
    """Say what became of the rotors of the approximations."""
    return "left out of the approximations" if drop_rotors else "locked into their carriers in the approximations"
