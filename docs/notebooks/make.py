"""Run the notebooks and store their outputs: ``python docs/notebooks/make.py``.

The documentation runs the notebooks again when it is built. The stored outputs are for readers of the repository.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def main() -> None:
    """Run every notebook, and write it without the numbers that change from run to run."""
    for path in sorted(HERE.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        with tempfile.TemporaryDirectory() as folder:
            NotebookClient(notebook, timeout=180, resources={"metadata": {"path": folder}}).execute()
        notebook.metadata = METADATA
        for cell in notebook.cells:
            cell.metadata = {k: v for k, v in cell.metadata.items() if k == "tags"}  # no times
            if cell.cell_type == "code":
                cell.execution_count = None
                cell.outputs = [o for o in cell.outputs if o.get("name") != "stderr"]
        nbformat.write(notebook, path)


if __name__ == "__main__":
    main()
