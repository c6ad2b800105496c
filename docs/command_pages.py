"""The page of the command line, made from the commands: usage, arguments, options, examples.

``conf.py`` loads this module as a Sphinx extension.
"""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import click
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from pin_clusters._cli.cli import main

PROGRAM = "pin-clusters"
VERBATIM = "\b"
"""Click's mark for a paragraph whose lines stay as they are."""


COMMON = "options-for-robots"
CODE = re.compile(r"(`[^`]+`|(?<![\w-])--[a-z][a-z-]*)")
RANGE = re.compile(r"[\d.<=]*x[\d.<=>]+")


class Commands(SphinxDirective):
    """``{commands}``: a table of the commands, the options that most of them have, and a section for each command."""

    def run(self) -> list[nodes.Node]:
        """Return the table and the sections."""
        found = list(leaves(main, click.Context(main, info_name=PROGRAM)))
        count = Counter(record for command, context in found for record in records_of(command, context))
        common = [record for record, n in count.items() if n > len(found) / 2]
        shared = nodes.section(ids=[COMMON], names=[COMMON])
        shared += nodes.title("", "Options for robots")
        shared += prose("Most commands that read a robot take these options.")
        shared += nodes.definition_list("", *map(option, common))
        sections = [shared, *(section_of(command, context, common) for command, context in found)]
        for section in sections:
            self.state.document.note_explicit_target(section)
        return [table_of(found), *sections]


def leaves(command: click.Command, context: click.Context) -> Iterator[tuple[click.Command, click.Context]]:
    """Return the commands that do something, with the contexts that have their names."""
    if not isinstance(command, click.Group):
        yield command, context
        return
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        assert below is not None
        yield from leaves(below, click.Context(below, info_name=name, parent=context))


def table_of(found: list[tuple[click.Command, click.Context]]) -> nodes.table:
    """Return the table of the commands, with the first sentence of each."""
    body = nodes.tbody()
    for command, context in found:
        link = nodes.reference("", "", nodes.literal("", context.command_path), refid=id_of(context), internal=True)
        first = paragraphs(command)[0]
        body += nodes.row("", *[nodes.entry("", x) for x in (nodes.paragraph("", "", link), prose(first))])
    columns = [nodes.colspec(colwidth=width) for width in (40, 60)]
    return nodes.table("", nodes.tgroup("", *columns, body, cols=2), classes=["summary"])


def id_of(context: click.Context) -> str:
    """Return the anchor of a command: ``pin-clusters-sweep-ratio``."""
    return context.command_path.replace(" ", "-")


def paragraphs(command: click.Command) -> list[str]:
    """Return the paragraphs of the help of a command."""
    return re.split(r"\n\s*\n", inspect.cleandoc(command.help or ""))


def records_of(command: click.Command, context: click.Context) -> list[tuple[str, str]]:
    """Return the options of a command: names and value, and the help with defaults and ranges."""
    found = [parameter.get_help_record(context) for parameter in command.get_params(context)]
    return [record for record in found if record and record[1] and not record[0].endswith("--help")]


def section_of(command: click.Command, context: click.Context, common: list[tuple[str, str]]) -> nodes.section:
    """Return the section of a command."""
    section = nodes.section(ids=[id_of(context)], names=[id_of(context)])
    section += nodes.title("", "", nodes.literal("", context.command_path))
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    description, examples = list[nodes.Node](), list[nodes.Node]()
    for text in paragraphs(command):
        if text.startswith("ROBOT ships with"):  # the page says so once
            continue
        title, _, listed = text.removeprefix(VERBATIM).strip().partition("\n")
        if title == "Examples:":
            examples = [nodes.rubric("", "Examples"), block(inspect.cleandoc(listed), "console")]
        elif text.startswith(VERBATIM):
            description.append(block(inspect.cleandoc(text.removeprefix(VERBATIM)), "text"))
        else:
            description.append(prose(text))
    section += [description[0], block(usage, "console"), *description[1:], *examples]
    records = records_of(command, context)
    if own := [record for record in records if record not in common]:
        section += [nodes.rubric("", "Options"), nodes.definition_list("", *map(option, own))]
    if len(own) < len(records):
        link = nodes.reference("", "options for robots", refid=COMMON, internal=True)
        section += nodes.paragraph("", "", nodes.Text("The command also takes the "), link, nodes.Text("."))
    return section


def option(record: tuple[str, str]) -> nodes.definition_list_item:
    """Return an option: its names and value; what it does, its default and its range."""
    term = nodes.term("", "", nodes.literal("", record[0]))
    text, *extra = re.split(r"(?:^|\s\s)\[", record[1])
    found = [text] if text else []
    for part in extra:
        default, _, last = part.rstrip("]").rpartition("; ")
        if not RANGE.fullmatch(last):
            default, last = part.rstrip("]"), ""
        found += [default[0].upper() + default[1:] + "."] if default else []
        found += [f"Range: `{last}`."] if last else []
    return nodes.definition_list_item("", term, nodes.definition("", prose(" ".join(found))))


def prose(text: str) -> nodes.paragraph:
    """Return a paragraph; options, and what stands in backticks, are code."""
    found = nodes.paragraph()
    for i, part in enumerate(CODE.split(" ".join(text.split()))):
        found += nodes.literal("", part.strip("`")) if i % 2 else nodes.Text(part)
    return found


def block(text: str, language: str) -> nodes.literal_block:
    """Return lines as they are."""
    return nodes.literal_block(text, text, language=language)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
