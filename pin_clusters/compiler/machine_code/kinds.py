"""Types of values in LLVM text (float, double or packs of them), and the text of constants."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from ...errors import UnknownNameError

SIZES = {"double": 8, "float": 4}
"""Dictionary from the name of a number type to its size [bytes]."""


@dataclass(frozen=True)
class Kind:
    """The type of a pack of ``lanes`` numbers of type ``double`` or ``float``; with one lane, a scalar type."""

    real: str
    lanes: int = 1

    def __post_init__(self) -> None:
        if self.real not in SIZES:
            raise UnknownNameError(f"real must be {' or '.join(map(repr, SIZES))}, got {self.real!r}.")

    @property
    def size(self) -> int:
        return SIZES[self.real]

    @property
    def name(self) -> str:
        return self._of(self.real)

    @property
    def whole(self) -> str:
        return self._of(f"i{8 * self.size}")

    @property
    def truth(self) -> str:
        return self._of("i1")

    @property
    def attributes(self) -> str:
        """Attributes of an LLVM function that uses these packs. They set the register width and prevent memset calls.

        LLVM's MCJIT cannot resolve calls of functions outside the module; such a call would crash the process.
        """
        bits = 8 * self.align
        wide = f' "prefer-vector-width"="{bits}" "min-legal-vector-width"="{bits}"'
        return 'nounwind "no-builtins"' + wide * (bits > 256)

    @property
    def align(self) -> int:
        return self.size * self.lanes

    def _of(self, one: str) -> str:
        return one if self.lanes == 1 else f"<{self.lanes} x {one}>"

    def constant(self, x: float) -> str:
        return self.constants([x] * self.lanes)

    def constants(self, numbers: Sequence[float]) -> str:
        written = [self._hexadecimal(x) for x in numbers]
        return written[0] if self.lanes == 1 else f"<{', '.join(f'{self.real} {x}' for x in written)}>"

    def whole_constant(self, n: int) -> str:
        return str(n) if self.lanes == 1 else f"<{', '.join([f'i{8 * self.size} {n}'] * self.lanes)}>"

    def _hexadecimal(self, x: float) -> str:
        if self.real == "float":  # LLVM writes float constants as doubles with the same value.
            x = struct.unpack("<f", struct.pack("<f", x))[0]
        return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"
