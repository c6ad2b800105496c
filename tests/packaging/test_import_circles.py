"""No modules of the package import each other, imports for type checkers included."""

import pytest
from support import house

pytestmark = pytest.mark.ci  # parses all modules


def test_no_modules_import_each_other() -> None:
    assert house.circles(house.imports(types=True)) == []
