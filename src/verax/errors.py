"""The one error that users see: a sentence that says what is wrong and what to do; others' errors in a line."""

from __future__ import annotations


class VeraxError(ValueError):
    """Something the caller can mend; the message is a whole sentence. The command line prints it and exits with 2."""


class OwnCodeError(VeraxError):
    """Code of the caller's own raised something; the message says what and where, and the cause is kept.

    The command line exits with 1, and shows the traceback if it is asked to say more.
    """


# Errors of other libraries may quote all data that they were given.
LONGEST_REASON = 300


def reason(error: BaseException) -> str:
    """What an error that is none of ours says, in one line that is not too long."""
    words = " ".join(str(error).split()) or "no message"
    return words if len(words) <= LONGEST_REASON else f"{words[:LONGEST_REASON].rstrip()} ..."
