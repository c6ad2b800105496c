"""Pictures of written pages on a desktop and on a phone: ``python docs/screenshots/pages.py [audit|mechanism]``.

Look at them. Needs playwright and a Chromium: the one of the system, or ``playwright install chromium``.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import warnings
from pathlib import Path

from playwright.sync_api import sync_playwright

import pin_clusters as pc
from pin_clusters.studies import audit

FOLDER = Path(__file__).parent
# name, width and height [CSS pixels], pixels per CSS pixel, what is scrolled to the top
VIEWS = (
    ("audit_desktop", 1060, 1500, 1.0, None),
    ("audit_desktop_why", 1060, 1460, 1.0, "Why"),
    ("audit_phone", 390, 1650, 1.5, None),
    ("mechanism_desktop", 1060, 2080, 1.0, None),
    ("mechanism_phone", 390, 1650, 1.5, "ankle_pitch, ankle_roll → crank_left, crank_right"),
)


def page_of(kind: str, folder: Path) -> Path:
    """Write a page."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        if kind == "audit":
            return audit.write(audit.run(pc.load("mit_humanoid")), folder)[0]
        return pc.mechanism(pc.load("ankle_2rsu")).write(folder)[0]


def main(kinds: list[str]) -> None:
    """Make the pictures."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as p:
        pages = {kind: page_of(kind, Path(folder)) for kind in kinds}
        browser = p.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, width, height, scale, heading in VIEWS:
            page = pages.get(name.partition("_")[0])
            if page is None:
                continue
            context = browser.new_context(
                viewport={"width": width, "height": height}, device_scale_factor=scale, color_scheme="light"
            )
            tab = context.new_page()
            messages: list[str] = []
            tab.on("console", lambda message, found=messages: found.append(message.text))
            tab.goto(page.as_uri())
            if heading is not None:
                tab.evaluate(
                    "text => [...document.querySelectorAll('h2')].find(h => h.textContent === text).scrollIntoView()",
                    heading,
                )
            wide = tab.evaluate("document.documentElement.scrollWidth")
            if messages or wide > width:
                raise SystemExit(f"{name}: {wide} pixels wide on {width}, console: {messages}")
            tab.screenshot(path=str(FOLDER / f"{name}.png"))
            sys.stdout.write(f"{name}.png: {width} x {height}\n")
            context.close()
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:] or ["audit", "mechanism"])
