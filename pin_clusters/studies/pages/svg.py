"""Convert Matplotlib figures to SVG elements that use unique ids and the colours of the page's theme."""

import io
import re
from typing import Any
from xml.etree import ElementTree

from .template import Html

# CSS variables of the page, and the plot colour that each variable replaces.
COLOURS = {
    "ink": "#000000",
    "soft": "#555555",
    "grid": "#dddddd",
    "paper": "#ffffff",
    "none": "#e69f00",
    "block": "#d55e00",
    "diagonal": "#0072b2",
    "green": "#009e73",
    "wine": "#882255",
    "sky": "#56b4e9",
    "rose": "#cc79a7",
    "yellow": "#f0e442",
    "grey": "#999999",
}
_HREF = "{http://www.w3.org/1999/xlink}href"
_REFERENCE = re.compile(r"url\(#([^)]+)\)|^#(.+)$")


def figure(width: float, height: float) -> Any:
    """Create an empty Matplotlib figure that needs no window system; width and height are in [inches]."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    canvas_figure = Figure(figsize=(width, height), dpi=72)
    FigureCanvasSVG(canvas_figure)
    return canvas_figure


def inline(drawn: Any, key: str, label: str) -> Html:
    """Convert a Matplotlib figure to an <svg> element with a label for screen readers.

    ``key`` must be unique on the page, because all ids in the SVG element begin with ``key``.
    """
    import matplotlib

    stream = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": key}):
        drawn.savefig(stream, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    root = ElementTree.fromstring(re.sub(r"<!DOCTYPE[^>]*>", "", stream.getvalue()))
    for parent in root.iter():
        for child in list(parent):
            if child.tag.endswith(("}metadata", "}style")):
                parent.remove(child)
    used = {name for e in root.iter() for value in e.attrib.values() for name in _names(value)}
    for e in root.iter():
        _clean(e, key, used)
    _, _, w, h = root.attrib["viewBox"].split()
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.attrib |= {"role": "img", "aria-label": label, "style": f"max-width:{float(w) * 1.6:.0f}px"}
    root.attrib["data-ratio"] = f"{float(h) / float(w):.3f}"
    return Html(ElementTree.tostring(root, encoding="unicode", method="html"))


def _names(value: str) -> list[str]:
    return [a or b for a, b in _REFERENCE.findall(value)]


def _clean(e: ElementTree.Element, key: str, used: set[str]) -> None:
    """Remove namespaces and unused ids, replace colours by CSS variables, and add a prefix to ids."""
    e.tag = e.tag.rpartition("}")[2]
    if _HREF in e.attrib:
        e.attrib["href"] = e.attrib.pop(_HREF)
    if e.attrib.get("id") not in used:
        e.attrib.pop("id", None)
    # CSS variables work only in styles; an attribute fill="var(...)" is drawn black.
    looks = [f"{name}: {e.attrib.pop(name)}" for name in ("fill", "stroke") if name in e.attrib]
    if looks:
        e.attrib["style"] = "; ".join([*looks, e.attrib.get("style", "")])
    for name, value in e.attrib.items():
        if name == "id":
            value = f"{key}-{value}"
        value = _REFERENCE.sub(lambda m: f"url(#{key}-{m[1]})" if m[1] else f"#{key}-{m[2]}", value)
        if name == "style":
            value = _coloured(value)
        e.attrib[name] = value


def _coloured(style: str) -> str:
    def font(m: re.Match[str]) -> str:
        return f"font-size: {m[1]}px" + "; font-weight: 700" * ("bold" in m[0] or " 700 " in m[0])

    style = re.sub(r"font: [^;]*?(\d[\d.]*)px[^;]*", font, style)
    for name, colour in COLOURS.items():
        style = style.replace(colour, f"var(--{name})")
    return style
