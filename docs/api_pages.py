"""The API pages: public names in place of import paths, a summary table per page, and links from names to entries.

``conf.py`` loads this module as a Sphinx extension.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from pathlib import Path
from typing import Any

import pinocchio as pin
from docutils import nodes
from numpy.typing import ArrayLike
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.inspect import stringify_signature
from sphinx.util.typing import stringify_annotation

import pin_clusters as pc

PAGES = Path(__file__).parent / "api"
ENTRY = re.compile(r"^\.\. (?:auto(?:class|data|exception|function)|py:data):: (?:pin_clusters\.)?(\S+)$", re.MULTILINE)
MIXED = {"aba", "ccrba", "crba", "dccrba", "nle", "rnea"}
"""Functions that are recognised without ``pc.``, although their names are lower-case words."""
KNOWN = {*pc.__all__, *pc._LAZY, *pc._HOSTS}
"""What ``pc.`` has of its own."""
SENTENCE = re.compile(r"\.(?:\s|$)")
UNIONS = (
    "TypeAliasForwardRef('ArrayLike')",
    stringify_annotation(ArrayLike, "smart"),
    stringify_annotation(ArrayLike, "fully-qualified-except-typing"),
)
"""What Sphinx writes for ``ArrayLike`` where it has evaluated the annotation."""
SKIPPED = (nodes.title, nodes.reference, addnodes.desc_signature, addnodes.pending_xref)


class summary(nodes.General, nodes.Element):  # noqa: N801 (names of nodes are lower-case)
    """The place of a summary table."""


class Summary(SphinxDirective):
    """``{summary}``: a table of the entries of the page, with the first sentence of each."""

    def run(self) -> list[nodes.Node]:
        """Return the place of the table."""
        return [summary()]


def listed() -> dict[str, str]:
    """Return the page of each entry, by its name behind ``pc.``."""
    return {
        name: page.stem
        for page in sorted(PAGES.glob("*.md"))
        for name in ENTRY.findall(page.read_text(encoding="utf-8"))
    }


def use_public_names() -> None:
    """Make modules and classes known by the names that users type, such as ``pin_clusters.study``."""
    for name, place in (pc._LAZY | pc._HOSTS).items():
        if name not in ("crocoddyl", "pink"):  # these stand where their names say, and need packages
            module = importlib.import_module(f"pin_clusters.{place}")
            sys.modules[f"pin_clusters.{name}"] = module
            setattr(pc, name, module)
    for name, kind in vars(pc.Differential).items():
        if isinstance(kind, type) and issubclass(kind, pc.Differential):
            kind.__name__, kind.__qualname__ = name, f"Differential.{name}"


def shorten_signature(
    _: Sphinx, what: str, name: str, thing: Any, options: Any, signature: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """Write ``ArrayLike`` in place of the long union for which it stands; find what a missing base class hides."""
    if what == "class" and "(*args: " in (signature or "") and "__init__" in vars(thing):
        signature = stringify_signature(
            inspect.signature(thing.__init__.__get__(thing)), unqualified_typehints=True, show_return_annotation=False
        )
    for long in UNIONS:
        signature = signature and signature.replace(long, "ArrayLike")
    return signature and re.sub(r"= <[^>]*>", "= ...", signature), returned


def finish(app: Sphinx, document: nodes.document) -> None:
    """Write the summary table, prefix ``pc.``, and link names in the text to their entries."""
    names = app.env.pc_names  # type: ignore[attr-defined]
    for prefix in document.findall(addnodes.desc_addname):
        prefix.children[0] = nodes.Text(as_typed(prefix.astext()))
    for place in list(document.findall(summary)):
        place.replace_self(table_of(document))
    for literal in list(document.findall(nodes.literal)):
        target = target_of(literal.astext(), names, app.env.docname.startswith("api/"))
        if target and not any(isinstance(x, SKIPPED) for x in ancestors(literal)):
            link = reference_to(target)
            literal.replace_self(link)
            link += literal


def as_typed(name: str) -> str:
    """Return a name as users type it: with ``pc.``, if the namespace of the package has it."""
    short = name.removeprefix("pin_clusters.")
    place = short.partition(".")[0]
    return f"pc.{short}" if short != name and (not place or place in KNOWN) else name


def ancestors(node: nodes.Node) -> list[nodes.Node]:
    """Return the nodes around a node."""
    found: list[nodes.Node] = []
    while (node := node.parent) is not None:
        found.append(node)
    return found


def target_of(text: str, names: dict[str, str], bare: bool) -> str:
    """Return the entry that a literal names, or an empty string; ``bare`` names need no ``pc.``."""
    found = re.fullmatch(r"(pc\.|pin_clusters\.)?([A-Za-z_]\w*(?:\.\w+)*)(?:\(\))?", text)
    if not found:
        return ""
    prefix, name = found.groups()
    if not prefix and not (bare and name in pc.__all__ and (name in MIXED or re.search(r"[A-Z_]", name))):
        return ""
    return name if name in names else ""


def reference_to(name: str) -> addnodes.pending_xref:
    """Return a link to an entry, which Sphinx resolves when all pages are read."""
    return addnodes.pending_xref(
        "", refdomain="py", reftype="obj", reftarget=f"pin_clusters.{name}", refexplicit=True, refwarn=False
    )


def table_of(document: nodes.document) -> nodes.Element:
    """Return the table of the entries of a page, with a row per section."""
    body = nodes.tbody()
    for section in document.findall(nodes.section):
        entries = [x for x in section.children if isinstance(x, addnodes.desc)]
        if not entries:
            continue
        title = section.next_node(nodes.title)
        head = nodes.entry("", nodes.paragraph("", "", *[x.deepcopy() for x in title.children]), morecols=1)
        body += nodes.row("", head, classes=["summary-section"])
        for entry in entries:
            signature, content = entry.next_node(addnodes.desc_signature), entry.next_node(addnodes.desc_content)
            name = signature["ids"][0]
            link = reference_to(name.removeprefix("pin_clusters."))
            link += nodes.literal("", as_typed(name))
            first = first_sentence(content)
            body += nodes.row("", *[nodes.entry("", x) for x in (nodes.paragraph("", "", link), first)])
    columns = [nodes.colspec(colwidth=width) for width in (40, 60)]
    group = nodes.tgroup("", *columns, body, cols=2)
    return nodes.table("", group, classes=["summary"])


def first_sentence(content: addnodes.desc_content) -> nodes.paragraph:
    """Return the first sentence of a description."""
    found = nodes.paragraph()
    first = next((x for x in content.children if isinstance(x, nodes.paragraph)), nodes.paragraph())
    for child in first.children:
        if isinstance(child, nodes.Text) and (end := SENTENCE.search(child)):
            found += nodes.Text(child[: end.start()] + ".")
            break
        found += child.deepcopy()
    return found


def resolve(app: Sphinx, env: Any, node: addnodes.pending_xref, content: nodes.TextElement) -> Any:
    """Link annotations such as ``pin_clusters.model.cluster_model.ClusterModel`` to ``pc.ClusterModel``."""
    target, names = node.get("reftarget", ""), env.pc_names
    name = target.rpartition(".")[2]
    if node.get("refdomain") != "py" or name not in names or (hasattr(pin, name) and not target.startswith("pin_cl")):
        return None
    domain = env.get_domain("py")
    return domain.resolve_xref(
        env, node["refdoc"], app.builder, "obj", f"pin_clusters.{name}", reference_to(name), content
    )


def setup(app: Sphinx) -> dict[str, Any]:
    """Register all of it."""
    use_public_names()
    app.add_node(summary)
    app.add_directive("summary", Summary)
    app.connect("builder-inited", lambda app: setattr(app.env, "pc_names", listed()))
    app.connect("autodoc-process-signature", shorten_signature)
    app.connect("doctree-read", finish)
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
