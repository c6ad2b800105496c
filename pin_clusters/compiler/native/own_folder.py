"""Files with checksums in a folder that only the user and root can change: machine code is read from no other place.

Each access opens the folder component by component from the root, relative to the descriptor of the component before,
and checks the owner and the mode of what it has opened. Thus nobody can exchange a component between check and use.
Links are followed only above the folder, and only if the user or root made them. Systems without descriptors of folders
(Windows) open files by path.
"""

import errno
import functools
import hashlib
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

_BY_DESCRIPTOR = hasattr(os, "geteuid") and os.open in os.supports_dir_fd
_SAFELY = sum(getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _SAFELY
_PARENT = _FOLDER | getattr(os, "O_PATH", 0)  # a parent need not be readable
_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_NOBODY = 65534  # a namespace of users shows all users as this one whom it does not map, often root and this one
_LARGEST = 2**30
"""Size of the largest file that is read, [bytes]."""


class NotOwnError(OSError):
    """Users other than this one and root can change a folder."""


@contextmanager
def _opened(folder: Path, make: bool = False) -> Iterator[tuple[int | None, str]]:
    """Open a folder, and make it if ``make``: its descriptor, if the system has them, and how paths of files begin."""
    if not _BY_DESCRIPTOR:
        if make:
            folder.mkdir(parents=True, exist_ok=True)
        yield None, f"{folder}{os.sep}"
        return
    rest, here, links = [*reversed(folder.parts)], Path(), 0
    at = os.open(rest[-1], _PARENT)
    try:
        while rest:
            name = rest.pop()
            own = len(rest) < 2  # the folder and the one that contains it belong to this package
            try:
                if make:
                    with suppress(OSError):  # it exists, or cannot be made
                        os.mkdir(name, 0o700, dir_fd=at)
                inner = os.open(name, _PARENT if rest else _FOLDER, dir_fd=at)
            except OSError as error:
                if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                    raise
                target = os.readlink(name, dir_fd=at)  # which fails, too, if it is no link
                owner = os.stat(name, dir_fd=at, follow_symlinks=False).st_uid
                links += 1
                if own or owner not in _trusted() or links > 40:
                    raise NotOwnError(f"{here / name} is a link that user {owner} made") from None
                rest += reversed(Path(target).parts)
            else:
                os.close(at)
                at, here = inner, here / name
                _check(at, here, own)
        yield at, ""
    finally:
        os.close(at)


def _trusted() -> set[int]:
    """Return the user, root, and the owner of ``/``, as whom a namespace of users may show root."""
    user, root = os.geteuid(), os.stat("/").st_uid
    if user == root == _NOBODY:
        raise NotOwnError("owners of files cannot be told apart in this namespace of users")
    return {user, 0, root}


def _check(at: int, here: Path, own: bool) -> None:
    """Raise ``NotOwnError`` if others can change what is in an open folder, or rename it."""
    about, trusted = os.fstat(at), _trusted()
    if about.st_uid not in ({os.geteuid()} if own else trusted):
        raise NotOwnError(f"{here} belongs to user {about.st_uid}")
    safe = not about.st_mode & _OTHERS
    if not own:  # in a folder with the sticky bit only the owner of an entry can rename the entry
        safe |= bool(about.st_mode & stat.S_ISVTX)
        safe = safe or (not about.st_mode & stat.S_IWOTH and _is_private(about.st_gid, at))
    if not safe:
        raise NotOwnError(f"others may write to {here} (mode {stat.S_IMODE(about.st_mode):o})")


def _is_private(gid: int, at: int) -> bool:
    """Return whether the bits of a folder's group mean the user alone, as where users have groups and the umask 002."""
    import grp
    import pwd

    uid = os.geteuid()
    try:
        user, group = pwd.getpwuid(uid), grp.getgrgid(gid)
        if "system.posix_acl_access" in os.listxattr(f"/proc/self/fd/{at}"):  # they mean other users, too
            return False
    except (KeyError, OSError, AttributeError):
        return False
    if uid == 0 or (user.pw_gid, user.pw_name) != (gid, group.gr_name):  # in containers users without a name have gid 0
        return False
    return {*group.gr_mem} <= {user.pw_name} and all(x.pw_uid == uid for x in _users() if x.pw_gid == gid)


@functools.cache
def _users() -> list[Any]:
    import pwd

    return pwd.getpwall()  # a directory of many users takes its time


def _opener(at: int | None) -> Callable[[str, int], int]:
    return lambda path, flags: os.open(path, flags | _SAFELY, 0o600, dir_fd=at)


def _sealed(folder: Path, name: str, data: bytes) -> bytes:
    """Return the checksum of data under a name: a file that was renamed, or moved to another folder, is damaged."""
    return hashlib.sha256(f"{folder.name}/{name}\n".encode() + data).digest()


def check(folder: Path) -> None:
    """Make a folder if it is missing, and write to it; raise ``NotOwnError`` or another ``OSError`` if that fails."""
    with _opened(folder, make=True) as (at, inside):
        part = f"{inside}.{secrets.token_hex(8)}.part"
        open(part, "xb", opener=_opener(at)).close()
        os.unlink(part, dir_fd=at)


def read(folder: Path, name: str) -> bytes | None:
    """Return what ``write`` has kept under a name; None if it is missing, damaged, or may come from another user."""
    with suppress(OSError), _opened(folder) as (at, inside), open(inside + name, "rb", opener=_opener(at)) as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode) or about.st_size > _LARGEST:
            return None
        if at is not None and (about.st_uid != os.geteuid() or about.st_mode & _OTHERS):
            return None
        content = file.read(about.st_size)
        if content[:32] == _sealed(folder, name, content[32:]):
            with suppress(OSError):  # it was used now
                os.utime(inside + name if at is None else file.fileno())
            return content[32:]
    return None


def write(folder: Path, name: str, data: bytes) -> None:
    """Keep data under a name, whole or not at all; raise as ``check`` does."""
    with _opened(folder) as (at, inside):
        part = f"{inside}.{name[:40]}-{secrets.token_hex(8)}.part"
        try:
            with open(part, "xb", opener=_opener(at)) as file:
                file.write(_sealed(folder, name, data) + data)
            os.replace(part, inside + name, src_dir_fd=at, dst_dir_fd=at)
        except BaseException:
            with suppress(OSError):
                os.unlink(part, dir_fd=at)
            raise


def lock_file(folder: Path, name: str) -> IO[bytes]:
    """Open a file for locks; raise as ``check`` does."""
    with _opened(folder) as (at, inside):
        return open(inside + name, "ab", opener=_opener(at))


def make_room(folder: Path, suffix: str, size: int, most: float) -> None:
    """Remove files used longest ago, down to three quarters of ``most`` bytes, if ``size`` bytes more are too many."""
    with _opened(folder) as (at, inside):
        found = []
        for name in os.listdir(folder if at is None else at):
            if name.endswith(suffix):
                with suppress(OSError):  # another process may remove it
                    about = os.stat(inside + name, dir_fd=at, follow_symlinks=False)
                    found.append((about.st_mtime, about.st_size, name))
        total = size + sum(n for _, n, _ in found)
        enough = most if total <= most else 0.75 * most
        for _, n, name in sorted(found):
            if total <= enough:
                return
            with suppress(OSError):
                os.unlink(inside + name, dir_fd=at)
            total -= n
