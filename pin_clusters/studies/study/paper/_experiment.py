"""Define the base class of the experiments, which writes JSON, tables and figures."""

from abc import ABC, abstractmethod
from pathlib import Path

from ...._support.docstrings import STUDY, stock
from ...pages.results import Result
from ..plots import Figure, new_figure, save_figure
from ._part import Rows

documented = stock(STUDY, "Args:\n    drop_rotors: As in ``study.run``.")


class Experiment(Result, ABC):
    """Result of an experiment."""

    @property
    @abstractmethod
    def title(self) -> str:
        """Description of the experiment in one sentence."""

    @property
    @abstractmethod
    def summary(self) -> str:
        """Main result in one sentence."""

    @abstractmethod
    def tables(self) -> list[tuple[str, Rows]]:
        """Return the title and the rows of each table as text; the first row is the header."""

    @abstractmethod
    def draw(self, figure: Figure) -> None:
        """Draw the result on an empty figure."""

    def save_plot(self, path: Path) -> None:
        figure = new_figure()
        self.draw(figure)
        save_figure(figure, path, facecolor="white")


def rotors(drop_rotors: bool) -> str:
    return "left out of the approximations" if drop_rotors else "locked into their carriers in the approximations"
