"""The page of the audit in a real browser: Chromium, without a window. Skipped where there is none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import pin_clusters as pc
from pin_clusters import audit

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install 'pin-clusters[test]'")

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = os.environ.get("PIN_CLUSTERS_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
FLAGS = ["--no-sandbox", "--no-first-run", "--disable-background-networking", "--disable-component-update"]

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason=f"needs a browser: one of {', '.join(NAMES)} in PATH, or PIN_CLUSTERS_CHROMIUM"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as running:
        found = running.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield found
        found.close()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    result = audit.run(pc.load("mit_humanoid_leg"), duration=0.7, dt=5e-3)
    return audit.write(result, tmp_path_factory.mktemp("audit"))[0]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_fits_and_is_silent(browser: Any, page: Path, width: int, theme: str) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=theme, java_script_enabled=True
    )
    tab, said, asked = context.new_page(), [], []
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(page.as_uri())
    assert said == []
    assert asked == [page.as_uri()]  # nothing but itself
    assert tab.evaluate("document.documentElement.scrollWidth") == width
    # wide tables scroll in their own frame
    frames = tab.evaluate("[...document.querySelectorAll('.scroll')].map(e => e.getBoundingClientRect().width)")
    assert frames
    assert max(frames) <= width
    # words are read on what is behind them, in pictures too
    paper = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    inks = set(tab.evaluate("[...document.querySelectorAll('svg text')].map(e => getComputedStyle(e).fill)"))
    dark = [sum(map(int, ink[4:-1].split(","))) < 384 for ink in inks]
    assert all(dark) if theme == "light" else not any(dark)
    assert (paper == "rgb(255, 255, 255)") == (theme == "light")
    context.close()
