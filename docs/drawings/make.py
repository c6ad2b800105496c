"""Make all drawings of the mechanisms: ``python docs/drawings/make.py [folder]``.

The images are kept next to the pages, so that building the documentation needs nothing of this.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from matplotlib import pyplot as plt

HERE = Path(__file__).parent
NAMES = sorted(p.stem for p in HERE.glob("*.py") if p.stem != "make" and not p.stem.startswith("_"))


def main(folder: Path, kind: str = "svg") -> None:
    """Write every drawing to a folder."""
    sys.path.insert(0, str(HERE))
    folder.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        figure = importlib.import_module(name).draw()
        metadata = {"Date": None} if kind == "svg" else None  # the same file from the same script
        figure.savefig(folder / f"{name}.{kind}", facecolor="white", metadata=metadata, dpi=110)
        plt.close(figure)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent / "mechanisms" / "drawings", *sys.argv[2:3])
