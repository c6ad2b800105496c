"""The commands as a user calls them."""

from __future__ import annotations

from click.testing import CliRunner, Result

from pin_clusters._cli import cli


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(cli.main, list(arguments), prog_name="pin-clusters")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def refused(*arguments: str) -> str:
    """The one line on stderr of a user's mistake."""
    result = run(*arguments)
    assert result.exit_code == 1
    assert result.stdout == ""
    lines = [line for line in result.stderr.splitlines() if not line.startswith("warning: ")]
    assert len(lines) == 1
    assert lines[0].startswith("error: ")
    assert "Traceback" not in result.stderr
    return lines[0]
