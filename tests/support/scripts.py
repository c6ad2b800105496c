"""Scripts that are not part of the package: those of ``benchmarks/``, and single files."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "benchmarks"


@contextmanager
def benchmarks(*names: str) -> Iterator[dict[str, ModuleType]]:
    """Import scripts of ``benchmarks/``, which import each other by their names; forget them at the end."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        yield {name: importlib.import_module(name) for name in names}
    finally:
        while str(BENCHMARKS) in sys.path:  # scripts add it as well
            sys.path.remove(str(BENCHMARKS))
        for name in names:
            sys.modules.pop(name, None)


def module_at(path: Path) -> ModuleType:
    """Return the module of a file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
