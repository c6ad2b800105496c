"""docs/check_links.py finds what is broken, and nothing else."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType

import pytest
from support.scripts import ROOT, module_at

WHOLE = '<a href="page.html#a-place">one</a> <img src="image.png"> <a href="folder/">two</a> <a name="old" href="#">'
OTHER = (
    '<h1 id="a-place">x</h1> <a href="index.html#old">up</a> <a href="mailto:a@b.org">m</a> <a href="#%C3%BC" id="ü">'
)


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return module_at(ROOT / "docs" / "check_links.py")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "folder").mkdir()
    (tmp_path / "index.html").write_text(WHOLE, encoding="utf-8")
    (tmp_path / "page.html").write_text(OTHER, encoding="utf-8")
    (tmp_path / "folder" / "index.html").write_text('<a href="../page.html?v=1">back</a>', encoding="utf-8")
    (tmp_path / "image.png").write_bytes(b"")
    return tmp_path


def test_whole_site_passes(script: ModuleType, site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert script.main([str(site)]) == 0
    assert capsys.readouterr().out == "7 links inside, 0 addresses outside, 0 broken\n"


@pytest.mark.parametrize(
    ("link", "reason"),
    [
        ('<a href="pag.html">', "no such file"),
        ('<a href="page.html#another-place">', "no such place"),
        ('<a href="#nowhere">', "no such place"),
        ('<img src="gone.png">', "no such file"),
        ('<script src="gone.js"></script>', "no such file"),
        ('<link href="gone.css">', "no such file"),
        ('<a href="SITE/page.html">', "no such file"),  # exists on this disk only: a path from its root
    ],
)
def test_broken_link_is_found(
    script: ModuleType, site: Path, link: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (site / "page.html").write_text(OTHER + link.replace("SITE", site.as_posix()), encoding="utf-8")
    assert script.main([str(site)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("broken: page.html: ")
    assert line.endswith(reason)


def test_unbuilt_folder_is_refused(script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert script.main([str(tmp_path)]) == 2
    assert "sphinx-build" in capsys.readouterr().err


class Answer(BaseHTTPRequestHandler):
    """Has /good and nothing else."""

    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/good" else 404)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


def test_other_sites_are_listed_and_asked(
    script: ModuleType, site: Path, server: str, capsys: pytest.CaptureFixture[str]
) -> None:
    links = f'<a href="{server}/good#x"></a><a href="{server}/good"></a><a href="{server}/gone"></a>'
    (site / "page.html").write_text(OTHER + links, encoding="utf-8")
    assert script.main([str(site)]) == 0, "without --external nobody is asked"
    assert f"not asked: {server}/gone (1 page)" in capsys.readouterr().out
    assert script.main([str(site), "--external"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert f"page.html: {server}/gone" in line
    assert "404" in line
