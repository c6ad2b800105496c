"""The cache of what Numba compiled: survives damage, a full disk, two processes at once; obeys Ctrl-C."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pin_clusters.compiler.entry_points import BOUNDSCHECK, JIT

pytestmark = pytest.mark.skipif(not JIT or BOUNDSCHECK, reason="nothing is compiled as usual")
if JIT:
    from pin_clusters.compiler.numba_jit import cache as _cache
# not in a checkout, where Python would find the package beside the installed one
ELSEWHERE = Path(sys.executable).parent
CALL = """
import numpy as np, pinocchio as pin, pin_clusters as pc
model = pc.ClusterModel(pin.buildSampleModelManipulator())
print(pc.computeKineticEnergy(model, model.createData(), pc.neutral(model), np.ones(model.nv)) > 0)
"""
# what is compiled takes seconds; where it is kept does not depend on what it is
SAMPLE = Path(__file__).parents[1] / "samples" / "light_kernel.py"
LIGHT = f"""
import sys
sys.path.insert(0, {str(SAMPLE.parent)!r})
import light_kernel
print(light_kernel.answer())
"""


def environment(**changes: str | None) -> dict[str, str]:
    """A fresh process's; None removes a variable."""
    own = {k: v for k, v in os.environ.items() if k not in {"PIN_CLUSTERS_CACHE", "NUMBA_DISABLE_JIT"}}
    own.update({k: v for k, v in changes.items() if v is not None})
    for k, v in changes.items():
        if v is None:
            own.pop(k, None)
    return own


def run(code: str = LIGHT, **changes: str | None) -> tuple[str, str]:
    """Run code, which calls the light kernel, in a fresh process with a changed environment."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-Pc", code], env=environment(**changes), capture_output=True, text=True,
        check=True, cwd=ELSEWHERE,
    )  # fmt: skip
    return done.stdout, done.stderr


@pytest.fixture(scope="module")
def compiled_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with the light kernel."""
    folder = tmp_path_factory.mktemp("cache") / "cache"
    out, said = run(PIN_CLUSTERS_CACHE=str(folder))
    assert (out, said.count("compiling light")) == ("True\n", 1)
    return folder


@pytest.fixture
def filled(compiled_once: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(compiled_once, tmp_path / "cache"))


@pytest.mark.ci
@pytest.mark.parametrize(
    ("code", "title"),
    [
        pytest.param(LIGHT, "light (for tests)", id="light"),
        pytest.param(CALL, "energy (kinetic and potential)", id="energy", marks=pytest.mark.long),
    ],
)
def test_two_processes_compile_once_and_say_so(tmp_path: Path, code: str, title: str) -> None:
    folder = tmp_path / "cache"
    command = [sys.executable, "-W", "ignore", "-Pc", code]
    options: dict[str, Any] = {"env": environment(PIN_CLUSTERS_CACHE=str(folder)), "text": True, "cwd": ELSEWHERE}
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options) for _ in range(2)]
    told = [process.communicate() for process in both]
    assert [out for out, _ in told] == ["True\n", "True\n"]
    start = f"pin_clusters: compiling {title} for this processor, once, kept in {folder}"
    (said,) = (err for _, err in told if err.startswith(start))  # the other one waits, or comes later
    assert said.count("\n") == 1
    assert said.endswith(" s\n")
    assert run(code, PIN_CLUSTERS_CACHE=str(folder)) == ("True\n", "")


@pytest.mark.ci
def test_falls_back_when_the_home_folder_cannot_be_written(tmp_path: Path) -> None:
    blocked, temporary = tmp_path / "file", tmp_path / "tmp"
    blocked.write_text("")
    temporary.mkdir()
    out, said = run(HOME=str(blocked / "home"), XDG_CACHE_HOME=None, TMPDIR=str(temporary))
    assert out == "True\n"
    assert f"cannot write to {blocked / 'home'}" in said
    assert f"compiled kernels are kept in {temporary}" in said
    assert any(temporary.rglob("*.kernel"))


@pytest.mark.long
def test_a_chosen_folder_that_cannot_be_written(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    out, said = run(PIN_CLUSTERS_CACHE=str(blocked / "cache"), TMPDIR=str(tmp_path))
    assert out == "True\n"
    assert f"cannot write to {blocked / 'cache'}" in said


READ_ONLY = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
READ_ONLY.append('mount --make-rprivate / && mount -o remount,ro,bind / && exec "$0" "$@"')


@pytest.mark.parametrize(
    "chosen", [pytest.param(False, marks=pytest.mark.long), pytest.param(True, marks=pytest.mark.ci)]
)
def test_where_nothing_can_be_written_results_are(tmp_path: Path, chosen: bool) -> None:
    """As in a container with a read-only root: the installed package, the home, the cache, temporary folders."""
    if shutil.which("unshare") is None or subprocess.run([*READ_ONLY, "true"], capture_output=True).returncode != 0:
        pytest.skip("this system lets a process mount nothing, not even in a namespace of its own")
    place = tmp_path / "cache"
    changes = {"HOME": str(tmp_path), "XDG_CACHE_HOME": None, "TMPDIR": None}
    if chosen:
        place.mkdir()
        changes["PIN_CLUSTERS_CACHE"] = str(place)
    code = f"{LIGHT}\nfrom pin_clusters.compiler.numba_jit import cache as _cache\nprint(_cache.cache_folder())"
    done = subprocess.run(
        [*READ_ONLY, sys.executable, "-W", "ignore", "-Pc", code], env=environment(**changes), capture_output=True,
        text=True, check=False, cwd="/",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == "True\nNone\n"
    start, _, rest = done.stderr.partition("\n")
    first = place if chosen else tmp_path / ".cache" / "pin_clusters"
    assert start.startswith(f"pin_clusters: cannot write to {first}; kernels are compiled again in every process. ")
    assert rest.startswith("pin_clusters: compiling ")
    assert "in every process, as no folder can be written" in rest
    assert rest.count("\n") == 1


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def scramble(path: Path) -> None:
    content, chosen = bytearray(path.read_bytes()), random.Random(0)
    for i in chosen.sample(range(len(content)), 50):
        content[i] ^= 0xFF
    path.write_bytes(content)


def everybody(folder: Path) -> None:
    folder.chmod(0o777)


def group(folder: Path) -> None:
    folder.chmod(0o770)


def link(folder: Path) -> None:
    folder.symlink_to(folder.rename(folder.with_name("behind")))


def in_a_folder_of_all(folder: Path) -> None:
    folder.parent.chmod(0o777)


def another_user(folder: Path) -> None:
    os.chown(folder, 65534, 65534)


WRITABLE = [
    (everybody, "mode 777", True), (link, "a link", False), (in_a_folder_of_all, "others may write to", False),
    (everybody, "mode 777", False), (group, "mode 770", False), (group, "mode 770", True), (link, "a link", True),
    (in_a_folder_of_all, "others may write to", True), (another_user, "user 65534", False),
    (another_user, "user 65534", True),
]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "why", "inner"),
    [pytest.param(*x, marks=[pytest.mark.ci] * (i > 0)) for i, x in enumerate(WRITABLE)],
)
def test_what_others_may_write_to_is_not_run(
    filled: Path, change: Callable[[Path], None], why: str, inner: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What is kept is unpickled and run, and its checksums stand beside it."""
    if change is another_user and os.getuid() != 0:
        pytest.skip("only root can give a folder away")
    temporary = tmp_path_factory.mktemp("temporary")
    (kernels,) = (path.parent for path in filled.rglob("*.kernel"))
    change(kernels if inner else filled)
    out, said = run(PIN_CLUSTERS_CACHE=str(filled), TMPDIR=str(temporary))
    assert out == "True\n"
    first, *rest = said.splitlines()
    assert first.startswith(f"pin_clusters: {filled}")
    assert " is not used: " in first
    assert why in first
    assert f"compiled kernels are kept in {temporary}" in first
    assert len(rest) == 1
    assert "compiling light" in rest[0]


@pytest.mark.ci
def test_two_installations_share_what_they_keep(filled: Path, tmp_path: Path) -> None:
    """The same sources at another place, installed later, are the same kernel."""
    other = tmp_path / "other"
    other.mkdir()
    copy = Path(shutil.copy(SAMPLE, other))
    os.utime(copy, (1e9, 1e9))
    for code in (LIGHT.replace(str(SAMPLE.parent), str(other)), LIGHT):
        assert run(code, PIN_CLUSTERS_CACHE=str(filled)) == ("True\n", "")
    copy.write_text(SAMPLE.read_text().replace("return address + x.shape[0]", "return x.shape[0] + address"))
    out, said = run(LIGHT.replace(str(SAMPLE.parent), str(other)), PIN_CLUSTERS_CACHE=str(filled))
    assert (out, said.count("compiling light")) == ("True\n", 1)  # what it is made of is another
    assert run(PIN_CLUSTERS_CACHE=str(filled)) == ("True\n", "")  # and beside the first one


@pytest.mark.ci
def test_a_source_written_under_a_process_is_not_kept(tmp_path: Path) -> None:
    """The process has imported what stood there before: its code must not be found under the name of the new one."""
    copy = Path(shutil.copy(SAMPLE, tmp_path))
    code = LIGHT.replace(str(SAMPLE.parent), str(tmp_path)).replace(
        "print", f"import pathlib, time\nplace = pathlib.Path({str(copy)!r})\n"
        "place.write_text(place.read_text().replace('address +', '1 + address +'))\nprint",
    )  # fmt: skip
    cache = tmp_path / "cache"
    assert run(code, PIN_CLUSTERS_CACHE=str(cache))[0] == "True\n"
    assert not list(cache.rglob("*.kernel"))


DAMAGE: dict[str, Callable[[Path], Any]] = {
    "cut off": cut,
    "empty": lambda path: path.write_bytes(b""),
    "scrambled": scramble,
    "foreign": lambda path: path.write_bytes(b"something else"),
    "gone": Path.unlink,
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_seen(filled: Path, damage: str) -> None:
    (file,) = filled.rglob("*.kernel")
    kept = _cache._Kept(file.parent, file.stem)
    assert kept.find()
    DAMAGE[damage](file)
    assert not kept.find()


@pytest.mark.ci
@pytest.mark.parametrize(
    "damage", [pytest.param(d, marks=() if d == "scrambled" else pytest.mark.long) for d in DAMAGE]
)
def test_what_is_damaged_is_compiled_again(filled: Path, damage: str) -> None:
    (file,) = filled.rglob("*.kernel")
    DAMAGE[damage](file)
    out, said = run(PIN_CLUSTERS_CACHE=str(filled))
    assert (out, said.count("compiling light")) == ("True\n", 1)
    assert run(PIN_CLUSTERS_CACHE=str(filled)) == ("True\n", "")


FULL = """
import errno, builtins
from pin_clusters.compiler.numba_jit import cache as _cache
whole = open
def full(path, mode="r", *rest, **more):
    if "x" in mode and str(path).startswith(".light_at"):
        raise OSError(errno.ENOSPC, "No space left on device", path)
    return whole(path, mode, *rest, **more)
builtins.open = full
"""


@pytest.mark.ci
def test_a_full_disk_loses_no_result(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    code = f"{FULL}{LIGHT}"
    out, said = run(code, PIN_CLUSTERS_CACHE=str(folder))
    assert out == "True\n"
    assert "light (for tests) could not be stored in the cache: [Errno 28] No space left on device" in said
    out, said = run(PIN_CLUSTERS_CACHE=str(folder))
    assert (out, said.count("compiling light")) == ("True\n", 1)


@pytest.mark.ci
@pytest.mark.parametrize("delay", [0.3, *(pytest.param(d, marks=pytest.mark.long) for d in (0.05, 0.7, 1.2, 2.0))])
def test_ctrl_c_is_obeyed(tmp_path: Path, delay: float, request: pytest.FixtureRequest) -> None:
    """Also where an exception would be swallowed; and nothing is left half done."""
    # a shell's background job, as the tests may be, ignores Ctrl-C, and so would the process
    code = f"import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n{CALL}"
    process = subprocess.Popen(
        [sys.executable, "-Pc", code], env=environment(PIN_CLUSTERS_CACHE=str(tmp_path)), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, cwd=ELSEWHERE,
    )  # fmt: skip
    assert process.stderr is not None
    head = process.stderr.read(len("pin_clusters: compiling"))
    assert head.endswith("compiling")
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    start = time.monotonic()
    out, err = process.communicate(timeout=120)
    if process.returncode == 0:  # it was done before
        assert delay > 1.0
        return
    assert process.returncode in (-signal.SIGINT, 130, 1)
    assert "KeyboardInterrupt" in err
    assert out == ""
    assert time.monotonic() - start < 20.0
    assert not list(tmp_path.rglob("*.kernel"))  # nothing counts as compiled
    if request.config.getoption("--long"):
        out, said = run(CALL, PIN_CLUSTERS_CACHE=str(tmp_path))
        assert (out, said.count("compiling energy")) == ("True\n", 1)


THREADS = """
import threading
import numpy as np, pinocchio as pin, pin_clusters as pc
model = pc.ClusterModel(pin.buildSampleModelManipulator())
found = []
def work():
    found.append(pc.computeKineticEnergy(model, model.createData(), pc.neutral(model), np.ones(model.nv)))
threads = [threading.Thread(target=work) for _ in range(6)]
for t in threads: t.start()
for t in threads: t.join()
print(len(found), len(set(found)))
"""


@pytest.mark.long
def test_threads_that_meet_a_kernel_together(tmp_path: Path) -> None:
    out, said = run(code=THREADS, PIN_CLUSTERS_CACHE=str(tmp_path))
    assert out == "6 1\n"
    assert said.count("compiling") == 1
    assert "cannot write" not in said
