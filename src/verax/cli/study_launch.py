"""``verax study check`` and ``pilot``: before the first participant."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from verax.cli.console import one_sentence, output, plain_table, print_json, say
from verax.cli.options import AsJson, Database, Folder
from verax.phrases import say as say_phrase
from verax.workflows.analysis import check_installed

CHECK_EXAMPLES = "Example: verax study check studies/forward --url https://study.example.org"
PILOT_EXAMPLES = """Examples:

verax study pilot studies/forward

verax study pilot studies/forward --results

verax study pilot studies/forward --wipe
"""


@one_sentence
def check_command(
    folder: Folder,
    database: Database = None,
    url: Annotated[str | None, typer.Option(help="The address that participants open.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say what is missing before a study begins.

    Pilot, freeze, power, consent, codes, backup, clock and https: a sentence each. The status is 1 if anything is
    missing.
    """
    check_installed()
    from verax.workflows.launch import launch_checks

    checks = launch_checks(folder, database, url)
    if as_json:
        print_json({"checks": [asdict(check) for check in checks]})
    else:
        table = plain_table("", "", "", left=("",))
        signs = {"fine": "ok", "missing": "MISSING", "unknown": "?"}
        for check in checks:
            table.add_row(signs[check.state], check.name, check.sentence)
        output().print(table)
        if all(check.state == "fine" for check in checks):
            say(say_phrase("launch", "all-fine"))
    if any(check.state == "missing" for check in checks):
        raise typer.Exit(1)


@one_sentence
def pilot_command(
    folder: Folder,
    port: Annotated[int, typer.Option(min=0, max=65535, help="To listen at; 0 takes any free one.")] = 8000,
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "0.0.0.0",
    results: Annotated[
        bool, typer.Option("--results", help="Print what the pilot gave so far: people, minutes and remarks.")
    ] = False,
    wipe: Annotated[bool, typer.Option("--wipe", help="Delete all that the pilot gave.")] = False,
    as_json: AsJson = False,
) -> None:
    """Try a study with a few people nearby, apart from the real one.

    Prints an address and a QR code for phones on the same network. Every page has a box for remarks, nobody needs a
    code or a platform, and what is answered never mixes with the study's own answers.
    """
    check_installed()
    from verax.web.pilot import pilot, pilot_results, wipe_pilot

    if wipe:
        there = wipe_pilot(folder)
        if as_json:
            print_json({"wiped": there})
        else:
            say("What the pilot gave is deleted." if there else "There was no pilot; nothing was deleted.")
        return
    if not results:
        pilot(folder, port, host)
        return
    found = pilot_results(folder)
    if as_json:
        print_json(asdict(found))
        return
    times = ", ".join(f"{minutes:.1f}" for minutes in found.minutes) or "none"
    say(f"Came: {found.came}. Completed: {found.completed}. Minutes of those: {times}.")
    for remark in found.remarks:
        say(f"{remark.phase or 'before the first part'}, {remark.screen or 'first page'}: {remark.text}")
