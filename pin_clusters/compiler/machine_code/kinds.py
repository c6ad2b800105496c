"""Types of numbers in LLVM's text: a float or a double, or a pack of them; and how constants are written."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from ...errors import UnknownNameError

SIZES = {"double": 8, "float": 4}
"""Bytes of a number, by the name of its type."""


@dataclass(frozen=True)
class Kind:
    """A type of numbers, ``double`` or ``float``, in packs of so many lanes; 1: no pack."""

    real: str
    lanes: int = 1

    def __post_init__(self) -> None:
        if self.real not in SIZES:
            raise UnknownNameError(f"real is {self.real!r}; it can be {' or '.join(map(repr, SIZES))}.")

    @property
    def size(self) -> int:
        """Bytes of one number."""
        return SIZES[self.real]

    @property
    def name(self) -> str:
        """As LLVM writes it."""
        return self._of(self.real)

    @property
    def whole(self) -> str:
        """Whole numbers of the same width."""
        return self._of(f"i{8 * self.size}")

    @property
    def truth(self) -> str:
        """What a comparison gives."""
        return self._of("i1")

    @property
    def attributes(self) -> str:
        """What a function with such packs needs: registers as wide as they are; zeros are no call of memset.

        MCJIT reserves no room for calls to what is outside of a module, and then ends the process.
        """
        bits = 8 * self.align
        wide = f' "prefer-vector-width"="{bits}" "min-legal-vector-width"="{bits}"'
        return 'nounwind "no-builtins"' + wide * (bits > 256)

    @property
    def align(self) -> int:
        """Of packs in memory, as what makes room for them aligns it."""
        return self.size * self.lanes

    def _of(self, one: str) -> str:
        return one if self.lanes == 1 else f"<{self.lanes} x {one}>"

    def constant(self, x: float) -> str:
        """Return a number, the same in all lanes."""
        return self.constants([x] * self.lanes)

    def constants(self, numbers: Sequence[float]) -> str:
        """Return a number per lane."""
        written = [self._hexadecimal(x) for x in numbers]
        return written[0] if self.lanes == 1 else f"<{', '.join(f'{self.real} {x}' for x in written)}>"

    def whole_constant(self, n: int) -> str:
        """Return a whole number, the same in all lanes."""
        return str(n) if self.lanes == 1 else f"<{', '.join([f'i{8 * self.size} {n}'] * self.lanes)}>"

    def _hexadecimal(self, x: float) -> str:
        if self.real == "float":  # LLVM writes floats as the doubles that they are
            x = struct.unpack("<f", struct.pack("<f", x))[0]
        return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"
