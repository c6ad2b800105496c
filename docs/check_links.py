"""Check every link of the built documentation: ``python docs/check_links.py docs/_build [--external]``.

A link to a page, picture, script or ``#place`` of the documentation has to lead somewhere. Links to other sites are
listed; with ``--external``, which needs a network, each is asked for as well. Exit status 1 if a link is broken.
"""

from __future__ import annotations

import argparse
import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LINKS = {"a": "href", "img": "src", "link": "href", "script": "src", "source": "src", "iframe": "src", "object": "data"}
TIMEOUT = 20.0  # [s]
BROWSER = "Mozilla/5.0 (compatible; check_links)"  # some sites refuse Python's own name


class Page(HTMLParser):
    """Links of a page, and the places to which others can link.

    Args:
        text: The HTML.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note links and ids."""
        found = dict(attrs)
        self.places.update(p for p in (found.get("id"), found.get("name") if tag == "a" else None) if p)
        if link := found.get(LINKS.get(tag, "")):
            self.links.append(link)


def check(folder: Path) -> tuple[list[str], dict[str, list[str]], int]:
    """Check the links inside of a folder of HTML.

    Args:
        folder: What Sphinx built.

    Returns:
        What is broken, one line each; the pages that name each external address; the number of internal links.
    """
    pages = {p.resolve(): Page(p.read_text(encoding="utf-8")) for p in sorted(folder.rglob("*.html"))}
    broken, external, count = [], dict[str, list[str]](), 0
    for path, page in pages.items():
        name = path.relative_to(folder.resolve()).as_posix()
        for link in dict.fromkeys(page.links):
            parts = urlsplit(link)
            if parts.scheme in ("http", "https") or parts.netloc:
                external.setdefault(link, []).append(name)
                continue
            if parts.scheme:  # mailto, data, javascript
                continue
            count += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if parts.path.startswith("/") or not target.is_file():
                broken.append(f"{name}: {link}: there is no such file")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].places:
                broken.append(f"{name}: {link}: the page has no such place")
    return broken, external, count


def ask(address: str) -> str:
    """Ask for an address; returns what is wrong with it, or an empty string."""
    request = urllib.request.Request(address, headers={"User-Agent": BROWSER})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT):
            return ""
    except (urllib.error.URLError, OSError, ValueError) as error:
        return str(error)


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path, help="what sphinx-build wrote")
    parser.add_argument("--external", action="store_true", help="ask for the links to other sites, too")
    options = parser.parse_args(arguments)
    if not (options.folder / "index.html").is_file():
        print(f"{options.folder} holds no index.html; build first: sphinx-build docs {options.folder}", file=sys.stderr)
        return 2
    broken, external, count = check(options.folder)
    if options.external:
        addresses = sorted({a.split("#")[0] for a in external})
        with ThreadPoolExecutor(8) as pool:
            answers = dict(zip(addresses, pool.map(ask, addresses), strict=True))
        broken += [
            f"{', '.join(p)}: {a}: {answers[a.split('#')[0]]}" for a, p in external.items() if answers[a.split("#")[0]]
        ]
    else:
        for address, where in sorted(external.items()):
            print(f"not asked: {address} ({len(where)} page{'s' * (len(where) > 1)})")
    for line in broken:
        print(f"broken: {line}", file=sys.stderr)
    print(f"{count} links inside, {len(external)} addresses outside, {len(broken)} broken")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
