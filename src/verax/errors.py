"""The one error that users see: a sentence that says what is wrong and what to do."""

from __future__ import annotations


class VeraxError(ValueError):
    """Something the caller can mend; the message is a whole sentence. The command line prints it and exits with 2."""


class OwnCodeError(VeraxError):
    """Code of the caller's own raised something; the message says what and where, and the cause is kept.

    The command line exits with 1, and shows the traceback if it is asked to say more.
    """
