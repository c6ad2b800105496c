"""Make all drawings of the documentation: ``python docs/drawings/make.py [folder]``.

The images are kept next to the pages, so that building the documentation needs nothing of this.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from matplotlib import pyplot as plt

HERE = Path(__file__).parent
FOLDERS = {HERE: "mechanisms/drawings", HERE / "concepts": "concepts"}
"""Where scripts are, and where in the documentation their images belong."""


def main(root: Path, kind: str = "svg") -> None:
    """Write every drawing into its folder below a root."""
    sys.path.insert(0, str(HERE))  # for _draw
    for scripts, folder in FOLDERS.items():
        (root / folder).mkdir(parents=True, exist_ok=True)
        for script in sorted(scripts.glob("*.py")):
            if script.stem == "make" or script.stem.startswith("_"):
                continue
            spec = importlib.util.spec_from_file_location(f"{scripts.name}.{script.stem}", script)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            figure = module.draw()
            metadata = {"Date": None} if kind == "svg" else None  # the same file from the same script
            figure.savefig(root / folder / f"{script.stem}.{kind}", facecolor="white", metadata=metadata, dpi=110)
            plt.close(figure)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent, *sys.argv[2:3])
