"""The one error that users see: a sentence that says what is wrong and what to do."""

from __future__ import annotations


class VeraxError(ValueError):
    """Something the caller can mend; the message is a whole sentence. The command line prints it and exits with 2."""
