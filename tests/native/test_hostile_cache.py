"""Attacks on the folders of compiled code: other users, exchanged folders, foreign, special and moved files."""

from __future__ import annotations

import ctypes
import functools
import itertools
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from pin_clusters.compiler.entry_points import BOUNDSCHECK, JIT
from pin_clusters.compiler.machine_code import store
from pin_clusters.compiler.native import cache_folders

pytestmark = [
    pytest.mark.jitless,
    pytest.mark.skipif(not hasattr(os, "geteuid"), reason="folders have no owners"),
    pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning"),  # JAX, if another test has imported it, warns
]
as_root = pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() != 0, reason="only root can play two users")
compiles = pytest.mark.skipif(not JIT or BOUNDSCHECK, reason="nothing is compiled as usual")
BOB = 54321
"""Another user, without a name."""
SAMPLE = Path(__file__).parents[1] / "samples" / "light_kernel.py"


@pytest.fixture
def base(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that all users reach; ``base/temporary`` is the temporary folder."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    folder.chmod(0o755)
    (folder / "temporary").mkdir()
    (folder / "temporary").chmod(0o1777)
    monkeypatch.setattr(tempfile, "tempdir", str(folder / "temporary"))
    monkeypatch.setattr(cache_folders, "_faults_shown", set())
    store.folder.cache_clear()
    yield folder
    store.folder.cache_clear()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def choose(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path | str], None]:
    """Begin anew, as a new process does, with a folder in ``PIN_CLUSTERS_CACHE``."""

    def chosen(place: Path | str) -> None:
        monkeypatch.setenv("PIN_CLUSTERS_CACHE", str(place))
        store.folder.cache_clear()

    return chosen


def kept(code: bytes = b"good", name: str = "name") -> bytes:
    return store.kept(name, lambda: code)


@pytest.fixture
def place(base: Path, choose: Callable[[Path | str], None]) -> Path:
    """A cache that the user has chosen, with one intact file, whose code is evil."""
    choose(base / "home" / "cache")
    assert kept(b"evil") == b"evil"
    return base / "home" / "cache"


def give(user: int, *paths: Path) -> None:
    for path in paths:
        for inner in (path, *path.rglob("*")) if path.is_dir() and not path.is_symlink() else (path,):
            os.chown(inner, user, user, follow_symlinks=False)


@contextmanager
def user(uid: int, gid: int) -> Iterator[None]:
    """Be another user for a while."""
    groups = os.getgroups()
    os.setgroups([])
    os.setegid(gid)
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)


# --- folders that others can change -----------------------------------------------------------------------------------


def belongs_to_bob(place: Path) -> Path:
    """The parent is writable for its owner alone, who is somebody else."""
    give(BOB, place.parent)
    give(0, place)
    return place


def in_a_folder_of_a_group(place: Path) -> Path:
    place.parent.chmod(0o2775)
    return place


def far_above(place: Path) -> Path:
    """What others may rename is three folders up."""
    deep = place.parent / "a" / "b" / "cache"
    deep.parent.mkdir(parents=True)
    place.rename(deep)
    place.parent.chmod(0o775)
    return deep


def through_a_link_of_bob(place: Path) -> Path:
    """In a sticky folder, where the link may lead elsewhere tomorrow."""
    link = Path(tempfile.gettempdir()) / "link"
    link.symlink_to(place.parent)
    give(BOB, link)
    return link / "cache"


def through_links_to_links_of_bob(place: Path) -> Path:
    """The user's own link leads through a link of somebody else."""
    theirs = through_a_link_of_bob(place).parent
    mine = place.parent.parent / "mine"
    mine.symlink_to(theirs)
    return mine / "cache"


def access_list(place: Path) -> Path:
    """An entry for one more user in the access control list of the parent: the mode shows it as bits of the group."""
    entries = [
        (0x01, 7, 0xFFFFFFFF),
        (0x02, 7, BOB),
        (0x04, 5, 0xFFFFFFFF),
        (0x10, 7, 0xFFFFFFFF),
        (0x20, 5, 0xFFFFFFFF),
    ]
    value = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
    try:
        os.setxattr(place.parent, "system.posix_acl_access", value)
    except OSError:
        pytest.skip("this file system has no access control lists")
    return place


def sticky_but_of_bob(place: Path) -> Path:
    """The owner of a sticky folder may rename what is in it."""
    place.parent.chmod(0o1777)
    os.chown(place.parent, BOB, BOB)
    return place


UNSAFE = [
    belongs_to_bob, in_a_folder_of_a_group, far_above, through_a_link_of_bob, through_links_to_links_of_bob,
    access_list, sticky_but_of_bob,
]  # fmt: skip


@as_root
@pytest.mark.parametrize("attack", UNSAFE)
def test_a_folder_that_others_can_exchange_is_not_used(
    place: Path, choose: Callable[..., None], attack: Callable[[Path], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    choose(attack(place))
    assert kept() == b"good"
    (line,) = capsys.readouterr().err.splitlines()
    assert "is not used: " in line
    assert "Set PIN_CLUSTERS_CACHE to a folder that only you can write to" in line
    instead = Path(tempfile.gettempdir()) / "pin_clusters-0"
    assert f"programs are kept in {instead}" in line
    assert kept(b"made again") == b"good"
    assert (instead / "programs" / "name.o").is_file()
    choose(os.environ["PIN_CLUSTERS_CACHE"])
    assert kept() == b"good"
    assert capsys.readouterr().err == ""  # once


@as_root
def test_links_of_the_user_and_of_root_are_followed(place: Path, choose: Callable[..., None]) -> None:
    (place.parent / "inner").symlink_to("..")
    link = Path(tempfile.gettempdir()) / "link"
    link.symlink_to(place.parent)
    choose(link / "inner" / "home" / "cache")
    assert kept() == b"evil"
    link.unlink()
    link.symlink_to(link)  # a circle
    assert kept() == b"good"


# --- exchanged after the folder was chosen ----------------------------------------------------------------------------


def another_folder(place: Path) -> None:
    os.rename(place.parent, place.parent.with_name("old"))
    shutil.copytree(place.parent.with_name("old"), place.parent)
    give(BOB, place.parent)


def another_inner_folder(place: Path) -> None:
    evil = Path(shutil.copytree(place / "programs", place.parent / "evil"))
    give(BOB, evil)
    shutil.rmtree(place / "programs")
    (place / "programs").symlink_to(evil)


def opened_to_all(place: Path) -> None:
    (place / "programs").chmod(0o777)


def parent_opened_to_all(place: Path) -> None:
    place.parent.chmod(0o777)


@as_root
@pytest.mark.parametrize("attack", [another_folder, another_inner_folder, opened_to_all, parent_opened_to_all])
def test_a_folder_that_is_exchanged_while_a_program_runs(place: Path, attack: Callable[[Path], None]) -> None:
    attack(place)
    before = {path: path.read_bytes() for path in place.parent.rglob("*.o")}
    assert kept() == b"good"
    assert kept(name="other") == b"good"
    assert {path: path.read_bytes() for path in place.parent.rglob("*.o")} == before  # nothing is written there either


@as_root
def test_a_race_between_check_and_use(place: Path) -> None:
    """A thread exchanges the folder as fast as it can; the code of the other user is never returned."""
    evil, mine, away = place.parent.with_name("evil"), place.parent, place.parent.with_name("away")
    shutil.copytree(mine, evil)
    give(BOB, evil)
    (place / "programs" / "name.o").unlink()
    kept()
    over = threading.Event()

    def exchange() -> None:
        while not over.is_set():
            os.rename(mine, away)
            os.rename(evil, mine)
            os.rename(mine, evil)
            os.rename(away, mine)

    thread = threading.Thread(target=exchange)
    thread.start()
    try:
        found = {kept() for _ in range(1500)}
    finally:
        over.set()
        thread.join()
    assert found == {b"good"}


def test_a_relative_folder_stays_where_it_was(
    place: Path, choose: Callable[..., None], base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that changes its working folder does not run what it finds there."""
    (base / "start").mkdir()
    monkeypatch.chdir(base / "start")
    choose("home/cache")
    assert kept() == b"good"
    monkeypatch.chdir(base)  # which has home/cache with evil code
    assert kept(b"made again") == b"good"


# --- files ------------------------------------------------------------------------------------------------------------


def hard_link_of_bob(file: Path) -> None:
    theirs = file.parents[3] / "theirs"
    shutil.copy(file, theirs)
    theirs.chmod(0o644)
    give(BOB, theirs)
    file.unlink()
    os.link(theirs, file)


def link_to_an_intact_file(file: Path) -> None:
    file.symlink_to(file.rename(file.with_name("behind")))


def writable_for_others(file: Path) -> None:
    file.chmod(0o606)


def writable_for_the_group(file: Path) -> None:
    file.chmod(0o660)


def of_another_folder(file: Path) -> None:
    """As from the folder of another processor or another version of Numba: the name of the file is the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "_NAME", "other")
        store.folder.cache_clear()
        kept(b"of another processor")
    store.folder.cache_clear()
    shutil.copy(file.parents[1] / "other" / file.name, file)


def of_another_program(file: Path) -> None:
    kept(b"of another robot", "other")
    shutil.copy(file.with_name("other.o"), file)


def two_programs_exchanged(file: Path) -> None:
    """By two hard links to one file, as programs make that find equal files."""
    kept(b"of another robot", "other")
    file.unlink()
    os.link(file.with_name("other.o"), file)


def of_the_other_engine(file: Path) -> None:
    file.rename(file.with_suffix(".kernel"))
    kept(b"of another engine", "other.kernel")
    shutil.copy(file.with_name("other.kernel.o"), file)


def longer(file: Path) -> None:
    file.write_bytes(file.read_bytes() + b"\0")


def shorter(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


def bare_checksum(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:32])


def of_the_old_format(file: Path) -> None:
    import hashlib

    file.write_bytes(hashlib.sha256(b"evil").digest() + b"evil")


def sparse(file: Path) -> None:
    """A terabyte of zeros, which takes no room."""
    os.truncate(file, 2**40)


def folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def full_folder(file: Path) -> None:
    folder(file)
    (file / "x").write_text("")


def pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def listening(file: Path) -> None:
    file.unlink()
    with socket.socket(socket.AF_UNIX) as at:
        at.bind(str(file))


def device(file: Path) -> None:
    file.unlink()
    file.symlink_to("/dev/zero")


def own_device(file: Path) -> None:
    file.unlink()
    try:
        os.mknod(file, 0o20600, os.makedev(1, 5))
    except OSError:
        pytest.skip("this process may not make devices")


FILES = [
    pytest.param(hard_link_of_bob, marks=as_root), link_to_an_intact_file, writable_for_others, writable_for_the_group,
    of_another_folder, of_another_program, two_programs_exchanged, of_the_other_engine, longer, shorter, bare_checksum,
    of_the_old_format, sparse, folder, full_folder, pipe, listening, device, own_device,
]  # fmt: skip


@pytest.mark.parametrize("attack", FILES)
def test_a_file_that_may_not_be_run_is_made_again(place: Path, attack: Callable[[Path], None]) -> None:
    file = place / "programs" / "name.o"
    attack(file)
    start = time.process_time()
    assert kept() == b"good"
    assert time.process_time() - start < 5.0
    if attack not in (folder, full_folder):  # nothing can take their place
        assert kept(b"made again") == b"good"
        assert file.is_file()
        assert not file.is_symlink()


def test_room_is_made_in_the_own_folder_alone(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was used longest ago goes; what a link leads to stays."""
    monkeypatch.setattr(store, "_most", lambda: 300.0)
    precious = place.parent / "precious.o"
    precious.write_bytes(b"x" * 1000)
    (place / "programs" / "link.o").symlink_to(precious)
    (place / "programs" / "folder.o").mkdir()
    for k in range(4):
        kept(b"x" * 80, f"n{k}")
        os.utime(place / "programs" / f"n{k}.o", (k, k))
    kept(b"x" * 80, "last")
    left = {path.name for path in (place / "programs").iterdir()}
    assert "last.o" in left
    assert "n0.o" not in left
    assert precious.read_bytes() == b"x" * 1000


def test_a_mask_that_lets_all_write_is_not_used(base: Path, choose: Callable[..., None]) -> None:
    before = os.umask(0)
    try:
        choose(base / "new" / "cache")
        kept()
    finally:
        os.umask(before)
    made = [base / "new", base / "new" / "cache", base / "new" / "cache" / "programs"]
    assert [oct(path.stat().st_mode & 0o777) for path in made] == ["0o700"] * 3
    assert (made[2] / "name.o").stat().st_mode & 0o777 == 0o600
    assert kept(b"made again") == b"good"


# --- two users, temporary folders, containers -------------------------------------------------------------------------


@as_root
@pytest.mark.parametrize("mode", [0o755, 0o1777, 0o777])
def test_two_users_with_one_folder_do_not_run_each_others_code(
    base: Path, choose: Callable[..., None], mode: int, capsys: pytest.CaptureFixture[str]
) -> None:
    shared = base / "shared"
    shared.mkdir()
    shared.chmod(mode)
    choose(shared)
    with user(BOB, BOB):
        kept(b"evil")
    choose(shared)
    assert kept() == b"good"
    choose(shared)
    with user(BOB + 1, BOB + 1):
        assert kept(b"third") == b"third"
        assert kept(b"made again") == b"third"  # in a folder of its own
    assert "is not used" in capsys.readouterr().err


@as_root
@pytest.mark.parametrize("kind", ["folder", "link", "file"])
def test_a_temporary_folder_that_another_user_has_prepared(
    place: Path, base: Path, choose: Callable[..., None], kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    temporary = Path(tempfile.gettempdir()) / f"pin_clusters-{BOB + 1}"
    evil = Path(shutil.copytree(place, base / "evil"))
    if kind == "folder":
        evil.rename(temporary)
    elif kind == "link":
        temporary.symlink_to(evil)
    else:
        temporary.write_text("")
    give(BOB, temporary, *([evil] if evil.exists() else []))
    (base / "file").write_text("")
    choose(base / "file" / "cache")
    with user(BOB + 1, BOB + 1):
        assert kept() == b"good"
        assert kept(b"made again") == b"made again"
    assert "programs are compiled again in every process" in capsys.readouterr().err


@as_root
def test_a_temporary_folder_where_all_may_rename(
    base: Path, choose: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    Path(tempfile.gettempdir()).chmod(0o777)
    (base / "file").write_text("")
    choose(base / "file" / "cache")
    assert kept() == b"good"
    assert not list(Path(tempfile.gettempdir()).iterdir())
    assert "programs are compiled again in every process" in capsys.readouterr().err


@as_root
@pytest.mark.parametrize("group", [0, BOB])
@pytest.mark.parametrize("home", ["/", "missing", "read only"])
def test_a_user_without_a_name_in_a_container(
    base: Path, monkeypatch: pytest.MonkeyPatch, group: int, home: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """As in OpenShift: any number, group 0, and a home folder where nothing can be written."""
    (base / "home").mkdir(mode=0o755)
    for name in ("PIN_CLUSTERS_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", {"/": "/", "missing": str(base / "none"), "read only": str(base / "home")}[home])
    with user(BOB, group):
        assert kept() == kept(b"made again") == b"good"
    (line,) = capsys.readouterr().err.splitlines()
    assert f"programs are kept in {tempfile.gettempdir()}/pin_clusters-{BOB}." in line
    assert "PIN_CLUSTERS_CACHE" in line


@as_root
@pytest.mark.parametrize("group", ["private", "with a member", "with an access list", "of others"])
def test_a_cache_folder_that_a_private_group_may_write_to(
    base: Path, monkeypatch: pytest.MonkeyPatch, group: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Systems with a group per user and the umask 002 make ~/.cache so; only a group without other members is safe."""
    import grp
    import pwd

    name = pwd.struct_passwd(("ann", "x", BOB, BOB, "", str(base), "/bin/sh"))
    members = ["ann", "bob"] if group == "with a member" else []
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: name)
    monkeypatch.setattr(pwd, "getpwall", lambda: [name])
    monkeypatch.setattr(
        grp, "getgrgid", lambda gid: grp.struct_group(("ann" if gid == BOB else "lab", "x", gid, members))
    )
    if hasattr(cache_folders, "own_folder"):
        cache_folders.own_folder._users.cache_clear()
    home = base / "home"
    (home / ".cache").mkdir(parents=True)
    give(BOB, home)
    os.chown(home / ".cache", BOB, BOB + 1 if group == "of others" else BOB)
    (home / ".cache").chmod(0o775)
    monkeypatch.delenv("PIN_CLUSTERS_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / ".cache"))
    if group == "with an access list":
        access_list(home / ".cache" / "pin_clusters")
    with user(BOB, BOB):
        assert kept() == kept(b"made again") == b"good"
    said = capsys.readouterr().err
    assert ((home / ".cache" / "pin_clusters").is_dir(), said == "") == (
        (True,) * 2 if group == "private" else (False,) * 2
    )
    if hasattr(cache_folders, "own_folder"):
        cache_folders.own_folder._users.cache_clear()


@as_root
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs namespaces of users")
@pytest.mark.parametrize("mapped", [True, False])
def test_a_namespace_where_users_look_alike(place: Path, monkeypatch: pytest.MonkeyPatch, mapped: bool) -> None:
    """It shows all users as nobody that it does not map: such a user would take the files of others for its own."""
    libc = ctypes.CDLL(None)
    give(BOB if mapped else BOB + 1, place.parent)
    for path in (place.parent, place, place / "programs", place / "programs" / "name.o"):
        path.chmod(0o755)
    monkeypatch.setattr(store, "folder", functools.cache(lambda: place / "programs"))  # exchanged after it was chosen
    child = os.fork()
    if child == 0:
        with suppress(BaseException):
            os.setgroups([])
            os.setgid(BOB)
            os.setuid(BOB)
            if libc.unshare(0x10000000) != 0:  # CLONE_NEWUSER
                os._exit(77)
            if mapped:
                libc.prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE: who changes the user may else not write there
                Path("/proc/self/uid_map").write_text(f"{BOB} {BOB} 1\n")
            os._exit(0 if kept() == (b"evil" if mapped else b"good") else 1)
        os._exit(2)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code == 77:
        pytest.skip("this process may not make namespaces")
    assert code == 0


@as_root
def test_parents_that_only_let_pass(
    base: Path, choose: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    """As /home often is: it can be entered, not listed."""
    home = base / "home"
    (home / "ann").mkdir(parents=True)
    give(BOB, home / "ann")
    home.chmod(0o711)
    choose(home / "ann" / "cache")
    with user(BOB, BOB):
        assert kept() == kept(b"made again") == b"good"
    assert capsys.readouterr().err == ""


def test_a_program_that_closes_all_descriptors(place: Path) -> None:
    """As daemons do: no descriptor is kept, whose number could become another folder's."""
    child = os.fork()
    if child == 0:
        os.closerange(3, 256)
        os._exit(0 if kept() == b"evil" else 1)
    assert os.waitpid(child, 0)[1] == 0


# --- kernels ----------------------------------------------------------------------------------------------------------


def light(cache: Path, *, before: str = "") -> tuple[str, str]:
    """Call the light kernel in a new process."""
    code = f"import sys\nsys.path.insert(0, {str(SAMPLE.parent)!r})\nimport light_kernel\n{before}\n"
    code += "print(light_kernel.answer())"
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_DISABLE_JIT"} | {"PIN_CLUSTERS_CACHE": str(cache)}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-Pc", code], env=environment, capture_output=True, text=True, check=True,
        timeout=120, cwd=Path(sys.executable).parent,
    )  # fmt: skip
    return done.stdout, done.stderr


@compiles
@pytest.mark.ci
def test_nothing_is_unpickled_that_is_not_intact(tmp_path: Path) -> None:
    """Kernels are kept as pickles, which run code when they are read."""
    cache, sign = tmp_path / "cache", tmp_path / "sign"
    light(cache)
    evil = b"cposix\nsystem\n(S'touch " + str(sign).encode() + b"'\ntR."
    for file in [path for path in cache.rglob("*") if path.is_file()]:
        file.write_bytes(evil)
    (cache / "programs").mkdir(mode=0o700, exist_ok=True)
    out, said = light(cache)
    assert (out, said.count("compiling light")) == ("True\n", 1)
    assert light(cache) == ("True\n", "")
    assert not sign.exists()


@compiles
@as_root
@pytest.mark.ci
def test_the_kernels_folder_is_exchanged_while_a_program_runs(base: Path) -> None:
    cache, evil, sign = base / "cache", base / "evil", base / "sign"
    light(cache)
    shutil.copytree(cache, evil)
    give(BOB, evil)
    exchange = f"""
from pin_clusters.compiler.numba_jit import cache
import os, pickle
assert str(cache.cache_folder()).startswith({str(cache)!r})
os.rename({str(cache)!r}, {str(base / "old")!r})
os.rename({str(evil)!r}, {str(cache)!r})
whole = pickle.loads
def loads(data, *rest, **more):
    open({str(sign)!r}, "w").close()
    return whole(data, *rest, **more)
pickle.loads = loads
"""
    out, said = light(cache, before=exchange)
    assert out == "True\n"
    assert "could not be stored" in said
    assert not sign.exists()


@compiles
@pytest.mark.ci
def test_special_files_in_place_of_kernels_and_locks(tmp_path: Path) -> None:
    """A pipe, a folder and a link: the program neither waits, nor writes to what a link leads to."""
    cache, precious = tmp_path / "cache", tmp_path / "precious"
    light(cache)
    (kernel,) = (p for p in cache.rglob("light_at*") if not p.name.endswith(".lock"))
    (lock,) = cache.rglob("*.lock")
    precious.write_text("mine")
    for make in (lambda path: path.symlink_to(precious), os.mkfifo, os.mkdir):
        for path in (kernel, lock):
            with suppress(IsADirectoryError, PermissionError):
                path.unlink()
            if path.is_dir():
                shutil.rmtree(path)
            make(path)
        out, said = light(cache)
        assert (out, said.count("compiling light")) == ("True\n", 1)
        assert precious.read_text() == "mine"


def test_names_of_temporary_files_cannot_be_taken(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even a name that was guessed is not written through: a file that exists is never opened for writing."""
    precious = place.parent / "precious"
    precious.write_text("mine")
    numbers = itertools.count()
    monkeypatch.setattr("secrets.token_hex", lambda n=None: f"{next(numbers):x}")
    for k in range(20):
        (place / "programs" / f".other-{k:x}.part").symlink_to(precious)
        (place / "programs" / f".other-{k:x}.part.o").symlink_to(precious)
    assert kept(b"good", "other") == b"good"
    assert precious.read_text() == "mine"
