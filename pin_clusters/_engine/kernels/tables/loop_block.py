"""Where a LOOP cluster keeps what in ``work``, for kernels."""

from ..compiling.jit import inline
from .sizes import offsets

_offsets = inline(offsets)


@inline
def block(H, nk):
    """Lay out the block of a LOOP cluster, from its row of closures."""
    return _offsets(H.at, H.nd, H.nr, nk)
