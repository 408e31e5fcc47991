"""Backups that only whoever has the passphrase can read: OpenPGP files, made and opened by the program gpg.

AES-256 with a check that finds every change. `gpg --decrypt` opens them without Verax, too.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from verax.errors import VeraxError

SQLITE = b"SQLite format 3\0"
# Of one encryption, in seconds: gigabytes take minutes.
LONGEST = 3600


def encrypt(path: Path, passphrase: Path) -> None:
    """Puts an encrypted file in the place of a plain one.

    Args:
        path: of the file.
        passphrase: the file whose first line is the passphrase.
    """
    with TemporaryDirectory(prefix=".verax-encrypt-", dir=path.parent) as scratch:
        made = Path(scratch) / "backup.gpg"
        _gpg(passphrase, "--symmetric", "--cipher-algo", "AES256", "--output", str(made), str(path))
        made.chmod(0o600)
        made.replace(path)


@contextmanager
def opened(path: Path, passphrase: Path | None) -> Iterator[Path]:
    """A backup as a plain file: itself, or a copy for the time of the block that only its owner may read."""
    with open(path, "rb") as file:
        plain = file.read(len(SQLITE)) == SQLITE
    if passphrase is None or plain:
        yield path
        return
    with TemporaryDirectory(prefix="verax-decrypt-") as scratch:
        copy = Path(scratch) / "backup.sqlite"
        _gpg(passphrase, "--output", str(copy), "--decrypt", str(path))
        yield copy


def check_passphrase(path: Path) -> None:
    """Makes sure, before anything is copied, that a file holds a passphrase and that gpg is there."""
    try:
        with open(path, encoding="utf-8") as file:
            given = file.readline().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise VeraxError(
            f"The passphrase could not be read from {str(path)!r}; name a file whose first line it is."
        ) from error
    if not given:
        raise VeraxError(f"The first line of {str(path)!r} is empty; write the passphrase there.")
    if shutil.which("gpg") is None:
        raise VeraxError(
            "Backups are encrypted with the program gpg, which is not installed (apt install gpg)."
        )


def _gpg(passphrase: Path, *arguments: str) -> None:
    check_passphrase(passphrase)
    # A home of its own: nobody's keys are looked at, and nothing is left of it.
    with TemporaryDirectory(prefix="verax-gpg-") as home:
        quietly = ["gpg", "--homedir", home, "--batch", "--yes", "--quiet", "--pinentry-mode", "loopback"]
        command = [*quietly, "--passphrase-file", str(passphrase), *arguments]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=False)
        finally:
            ending = ["gpgconf", "--homedir", home, "--kill", "all"]
            subprocess.run(ending, capture_output=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        reason = lines[-1].removeprefix("gpg: ") if lines else "it did not say why"
        raise VeraxError(
            f"gpg could not do it ({reason}); check that the passphrase is the right one and the file is whole."
        )
