"""An anonymous export as one zip file, sent while nothing of it stays on the server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from threading import Lock
from typing import IO
from zipfile import ZIP_DEFLATED, ZipFile

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from verax.errors import VeraxError
from verax.studies.store import Store
from verax.studies.store.clock import from_micros, to_micros
from verax.studies.store.people import act
from verax.web.experimenter.sign_in import Visit, told
from verax.web.http.forms import Form
from verax.web.http.pages import site_of

FORMATS = {"csv": "CSV", "jsonl": "JSON lines", "parquet": "Parquet"}
PIECE = 256 * 1024

# An export reads everything: one at a time in each process.
_exporting = Lock()


def export(request: Request, visit: Visit, form: Form) -> Response:
    """All answers without what could tell who gave them; texts that people wrote are withheld too."""
    format = form.get("format", "csv")
    if format not in FORMATS:
        return told(request, "There is no such format", f"Choose one: {', '.join(FORMATS.values())}.", 400)
    if not _exporting.acquire(blocking=False):
        return told(request, "An export is being made", "Please try again when it is done.", 503)
    store = site_of(request).store
    try:
        file = _zipped(store, format)
    except (VeraxError, OSError) as error:
        return told(request, "The export could not be made", _reason(error), 507)
    finally:
        _exporting.release()
    store.write(act, visit.name, "export", {"format": format, "identifying": False})
    length = file.seek(0, 2)
    file.seek(0)
    now = from_micros(to_micros(store.clock()))  # in UTC
    name = f"{_file_name(store.study.spec.title)}-{now:%Y%m%d-%H%M}.zip"
    headers = {"Content-Length": str(length), "Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(_pieces(file), media_type="application/zip", headers=headers)


def _zipped(store: Store, format: str) -> IO[bytes]:
    """The zip file; it has no name in any folder, so it is gone when it was sent, or when the server dies."""
    from verax.studies.answers.export import export_study  # loads pyarrow

    file = TemporaryFile()  # noqa: SIM115
    try:
        with (
            TemporaryDirectory(prefix="verax-export-") as scratch,
            ZipFile(file, "w", ZIP_DEFLATED) as archive,
        ):
            export_study(store, Path(scratch) / "export", formats=(format,))
            for path in sorted(Path(scratch).rglob("*")):
                if path.is_file():
                    archive.write(path, path.relative_to(scratch))
    except BaseException:
        file.close()
        raise
    return file


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while piece := file.read(PIECE):
            yield piece


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"The server's disk says: {error.strerror or error}. Make room there, and try again."
    return str(error)


def _file_name(title: str) -> str:
    plain = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60]
    return plain or "study"
