"""The command ``paper``: measure the tables and figures of the papers."""

from pathlib import Path

import click

from .. import common
from . import CONTEXT, output


@click.command(context_settings=CONTEXT)
@output("paper", of_robot=False)
@click.option("--quick", is_flag=True, help="Measure fewer sizes and repeats, which takes one or two minutes.")
@click.option("--only", multiple=True, metavar="PART", help="Measure only this part; repeatable.")
@click.option("--longest", type=click.IntRange(2), help="Links of the longest chain.  [default: 1000; --quick: 300]")
@click.option("--patient", is_flag=True, help="Also run measurements that take more than an hour.")
def paper(output: Path, quick: bool, only: tuple[str, ...], longest: int | None, patient: bool) -> None:
    """Measure the papers' tables and figures, and check their statements.

    The command writes a PNG file for each figure, paper.md with all tables, figures and statements, and paper.json with
    all numbers, the machine, versions and the commit. First, it prints the expected duration. Run it on an idle
    machine.

    \b
    Parts for --only:
      tables        tables II to IV of arXiv 2311.13732 (Chignoli et al.): the robots
      lengths       figures 11 and 13 (Chignoli): time against number of links
      shapes        time against cluster size, tree depth and number of end effectors
      sinusoids     figure 14 (Chignoli): torque errors of approximate transmissions
      virtual_work  figures 6 and 7 of Yamane and Nakamura
      passive       figures 4 and 5 of Yamane and Nakamura: 30-DoF chains
      inputs        figure 2, tables 1 and 2 of Kroeg, Gattringer and Mueller
      crossover     mass-matrix, articulated-body and multiplier methods (Moss)

    \b
    Examples:
      pin-clusters paper --quick
      pin-clusters paper --output /tmp/paper
      pin-clusters paper --only lengths --longest 2000
    """  # noqa: D301 (click needs the backspace character)
    from ...studies.study.paper import published
    from .. import tables

    out = common.console()
    with common.output_folder(output):
        took = published.expected(quick=quick, only=only or None, longest=longest)
        tables.say(out, f"This takes {took.said} without compilation. Results go to {output}.")
        with common.ProgressBar("paper") as progress:
            results = published.run(quick=quick, only=only or None, longest=longest, patient=patient, progress=progress)
        rows = [(s.text, s.measured, s.verdict) for s in published.statements(results)]
        heads = ("statement", "measured", "verdict")
        tables.put(out, tables.table_of("Statements of the papers", "lll", heads, rows))
        with common.written(output):
            files = published.write(results, output)
    common.say_written(out, *files)
