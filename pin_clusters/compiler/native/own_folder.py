"""Stores files with checksums in folders that only the user and root can change; machine code elsewhere is not read.

Each access opens the components of the path one by one, starting at the root. Each component is opened relative to the
descriptor of the previous component, and then its owner and mode are checked. Therefore nobody can replace a component
between check and use. Symbolic links are followed only above the folder, and only if the user or root created them. On
systems without folder descriptors (Windows), files are opened by path.
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
# With O_PATH, parent folders can be opened without read permission.
_PARENT = _FOLDER | getattr(os, "O_PATH", 0)
_OTHERS = stat.S_IWGRP | stat.S_IWOTH
# In a user namespace, all unmapped users have this id; root is often unmapped.
_NOBODY = 65534
_LARGEST = 2**30
"""Maximum size of files that are read [bytes]."""


class NotOwnError(OSError):
    """Error for a folder that users other than the current user and root can change."""


@contextmanager
def _opened(folder: Path, make: bool = False) -> Iterator[tuple[int | None, str]]:
    """Open a folder, and create it if ``make``. Yield its descriptor (None if unsupported) and a prefix for paths."""
    if not _BY_DESCRIPTOR:
        if make:
            folder.mkdir(parents=True, exist_ok=True)
        yield None, f"{folder}{os.sep}"
        return
    components, opened_path, links = [*reversed(folder.parts)], Path(), 0
    descriptor = os.open(components[-1], _PARENT)
    try:
        while components:
            name = components.pop()
            of_package = len(components) < 2  # This package owns the folder and its parent, so stricter rules apply.
            try:
                if make:
                    with suppress(OSError):  # The folder exists or cannot be created.
                        os.mkdir(name, 0o700, dir_fd=descriptor)
                inner = os.open(name, _PARENT if components else _FOLDER, dir_fd=descriptor)
            except OSError as error:
                if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                    raise
                target = os.readlink(name, dir_fd=descriptor)  # raises OSError if the component is not a link
                owner = os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_uid
                links += 1
                if of_package or owner not in _trusted() or links > 40:
                    raise NotOwnError(f"{opened_path / name} is a link that user {owner} made") from None
                components += reversed(Path(target).parts)
            else:
                os.close(descriptor)
                descriptor, opened_path = inner, opened_path / name
                _check(descriptor, opened_path, of_package)
        yield descriptor, ""
    finally:
        os.close(descriptor)


def _trusted() -> set[int]:
    """Return the ids of the current user, root, and the owner of ``/``, who can act as root in a user namespace."""
    user, root = os.geteuid(), os.stat("/").st_uid
    if user == root == _NOBODY:
        raise NotOwnError("this user namespace hides the owners of files")
    return {user, 0, root}


def _check(descriptor: int, path: Path, of_package: bool) -> None:
    """Raise ``NotOwnError`` if other users can rename an open folder or change its contents."""
    status, trusted = os.fstat(descriptor), _trusted()
    if status.st_uid not in ({os.geteuid()} if of_package else trusted):
        raise NotOwnError(f"{path} belongs to user {status.st_uid}")
    safe = not status.st_mode & _OTHERS
    if not of_package:  # If the sticky bit is set, only the owner of an entry can rename it.
        safe |= bool(status.st_mode & stat.S_ISVTX)
        safe = safe or (not status.st_mode & stat.S_IWOTH and _is_private(status.st_gid, descriptor))
    if not safe:
        raise NotOwnError(f"others may write to {path} (mode {stat.S_IMODE(status.st_mode):o})")


def _is_private(gid: int, descriptor: int) -> bool:
    """Return whether a folder's group contains only the current user, as on systems with one group per user."""
    import grp
    import pwd

    uid = os.geteuid()
    try:
        user, group = pwd.getpwuid(uid), grp.getgrgid(gid)
        # If there is an access control list, the mode bits of the group also cover other users.
        if "system.posix_acl_access" in os.listxattr(f"/proc/self/fd/{descriptor}"):
            return False
    except (KeyError, OSError, AttributeError):
        return False
    # In containers, users without a name have gid 0.
    if uid == 0 or (user.pw_gid, user.pw_name) != (gid, group.gr_name):
        return False
    return {*group.gr_mem} <= {user.pw_name} and all(x.pw_uid == uid for x in _users() if x.pw_gid == gid)


@functools.cache
def _users() -> list[Any]:
    import pwd

    return pwd.getpwall()  # cached, because this is slow on systems with many users


def _opener(descriptor: int | None) -> Callable[[str, int], int]:
    return lambda path, flags: os.open(path, flags | _SAFELY, 0o600, dir_fd=descriptor)


def _sealed(folder: Path, name: str, data: bytes) -> bytes:
    """Return the checksum of data, folder name and file name; therefore renamed or moved files count as damaged."""
    return hashlib.sha256(f"{folder.name}/{name}\n".encode() + data).digest()


def check(folder: Path) -> None:
    """Create a folder if it is missing, and write a test file; raise ``NotOwnError`` or ``OSError`` on failure."""
    with _opened(folder, make=True) as (descriptor, inside):
        part = f"{inside}.{secrets.token_hex(8)}.part"
        open(part, "xb", opener=_opener(descriptor)).close()
        os.unlink(part, dir_fd=descriptor)


def read(folder: Path, name: str) -> bytes | None:
    """Return the data stored by ``write``, or None if they are missing, damaged or possibly written by another user."""
    with suppress(OSError), _opened(folder) as (fd, inside), open(inside + name, "rb", opener=_opener(fd)) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
            return None
        if fd is not None and (status.st_uid != os.geteuid() or status.st_mode & _OTHERS):
            return None
        content = file.read(status.st_size)
        if content[:32] == _sealed(folder, name, content[32:]):
            with suppress(OSError):  # record the time of the last use
                os.utime(inside + name if fd is None else file.fileno())
            return content[32:]
    return None


def write(folder: Path, name: str, data: bytes) -> None:
    with _opened(folder) as (descriptor, inside):
        part = f"{inside}.{name[:40]}-{secrets.token_hex(8)}.part"
        try:
            with open(part, "xb", opener=_opener(descriptor)) as file:
                file.write(_sealed(folder, name, data) + data)
            os.replace(part, inside + name, src_dir_fd=descriptor, dst_dir_fd=descriptor)
        except BaseException:
            with suppress(OSError):
                os.unlink(part, dir_fd=descriptor)
            raise


def lock_file(folder: Path, name: str) -> IO[bytes]:
    with _opened(folder) as (descriptor, inside):
        return open(inside + name, "ab", opener=_opener(descriptor))


def remove_oldest(folder: Path, suffix: str, size: int, most: float) -> None:
    """If the files plus ``size`` new bytes exceed ``most``, remove least recently used files, down to 3/4 ``most``."""
    with _opened(folder) as (descriptor, inside):
        files = []
        for name in os.listdir(folder if descriptor is None else descriptor):
            if name.endswith(suffix):
                with suppress(OSError):  # Another process may have removed the file.
                    status = os.stat(inside + name, dir_fd=descriptor, follow_symlinks=False)
                    files.append((status.st_mtime, status.st_size, name))
        total = size + sum(n for _, n, _ in files)
        target = most if total <= most else 0.75 * most
        for _, n, name in sorted(files):
            if total <= target:
                return
            with suppress(OSError):
                os.unlink(inside + name, dir_fd=descriptor)
            total -= n
