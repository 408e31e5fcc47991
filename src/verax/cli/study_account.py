"""``verax study account``: who may watch a study."""

from __future__ import annotations

import getpass
import sys
from typing import Annotated

import typer

from verax.cli.console import one_sentence, output
from verax.cli.study_options import Database, Folder, check_installed
from verax.errors import VeraxError

ACCOUNT_EXAMPLES = """Examples:

verax study account studies/forward anna

verax study account studies/forward anna --new-password < password.txt
"""


@one_sentence
def account_command(
    folder: Folder,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of the account.")],
    database: Database = None,
    new_password: Annotated[
        bool, typer.Option("--new-password", help="Give the account another password; its sessions end.")
    ] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the account; its sessions end.")] = False,
) -> None:
    """Make an account for the page that watches a study, /experimenter.

    The password is asked for, or read from standard input (one line) where that is no terminal. Studies in one database
    share their accounts.
    """
    check_installed()
    from verax.studies.model.study import load_study
    from verax.studies.store import accounts, open_store
    from verax.web.serve import default_database

    if remove and new_password:
        raise VeraxError("An account is removed or gets a new password; give only one of the two options.")
    store = open_store(load_study(folder), database or default_database(folder))
    try:
        if remove:
            accounts.remove_account(store, name)
            done = f"The account {name!r} is removed."
        elif new_password:
            accounts.change_password(store, name, _password())
            done = f"The account {name!r} has a new password; its sessions are ended."
        else:
            accounts.add_account(store, name, _password())
            done = f"The account {name!r} is made. Next: verax study serve {folder}, and sign in at /experimenter."
    finally:
        store.close()
    output().print(done, soft_wrap=True)


def _password() -> str:
    """What is typed twice, unseen; or the first line of a file or a pipe."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    try:
        password, again = getpass.getpass("Password: "), getpass.getpass("Once more: ")
    except EOFError as error:
        raise VeraxError("No password was typed; nothing was changed.") from error
    if again != password:
        raise VeraxError("The two passwords differ; nothing was changed.")
    return password
