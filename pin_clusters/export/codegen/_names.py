"""C identifiers for robots, functions and arguments."""

import re
import unicodedata
from collections.abc import Iterable

from ...errors import ArgumentTypeError, UnknownNameError

_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
_DECLARED = re.compile(r"[tsc]\d+\Z|.*_\d+\Z")  # names of intermediate results and input entries
# keywords of C99, C++20 and CUDA C, and names in the included headers
_TAKEN = frozenset(
    """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class co_await
    co_return co_yield compl concept const const_cast consteval constexpr constinit continue cos cosf decltype default
    delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long main
    mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
    reinterpret_cast requires restrict return short signed sin sinf sizeof sqrt sqrtf static static_assert static_cast
    std struct switch template this thread_local throw true try typedef typeid typename union unsigned using virtual
    void volatile wchar_t while xor xor_eq Eigen test
    """.split()
)


def identifier(text: str, instead: str = "robot") -> str:
    """Return an identifier in C and C++ that resembles a text, or ``instead`` if no character is usable.

    Example:
        >>> identifier("2-link arm (left)"), identifier("class"), identifier("")
        ('robot_2_link_arm_left', 'class_robot', 'robot')
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    name = re.sub(r"\W+", "_", plain, flags=re.ASCII).strip("_")
    if not name:
        return instead
    if name[0].isdigit():
        name = f"{instead}_{name}"
    return f"{name}_{instead}" if name in _TAKEN else name


def name_of(robot: str, given: str | None) -> str:
    """Return the prefix of file and function names: ``given``, or an identifier that is derived from ``robot``."""
    if given is None:
        return identifier(robot)
    if not isinstance(given, str):
        raise ArgumentTypeError(f"name must be a string, got {type(given).__name__}.")
    if not _IDENTIFIER.match(given) or given in _TAKEN:
        raise UnknownNameError(
            f"name {given!r} is not an identifier in C and C++. Use letters, digits and underscores, start with a "
            f"letter, and avoid keywords, for example {identifier(given)!r}."
        )
    return given


def distinct(names: Iterable[str]) -> list[str]:
    """Return distinct identifiers for arguments, which also differ from names declared in a function body."""
    identifiers: list[str] = []
    for text in names:
        name = identifier(text, "x")
        if _DECLARED.match(name):
            name += "_"
        while name in identifiers:
            name += "_"
        identifiers.append(name)
    return identifiers
