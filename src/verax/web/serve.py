"""Serves a study, or several together: one process or several on one port, or beside what this process does."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from ipaddress import ip_network
from multiprocessing import parent_process
from multiprocessing.connection import wait
from multiprocessing.reduction import DupFd, ForkingPickler
from pathlib import Path
from threading import Thread
from typing import Any, TextIO, Unpack

import h11
import uvicorn
from sqlalchemy import make_url
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.supervisors import Multiprocess

from verax.errors import VeraxError
from verax.options import checked_spec, takes_options
from verax.studies.definition.options import ServeOptions, ServeSpec
from verax.studies.definition.study_files import frozen, load_study
from verax.studies.store.clock import share_clock
from verax.studies.store.database.location import present_url
from verax.studies.store.together import folder_of, open_together
from verax.web.alerts import read_alerts
from verax.web.app import check_alike, joint_app, make_app
from verax.web.requests import host_names

HEAD_SECONDS = 20


class BoundedProtocol(H11Protocol):
    """The server's protocol, with a limit on the time until a request's head has arrived.

    Bodies have one of their own, where they are read; see `verax.web.requests`.
    """

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begins to wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """A piece of a request: from the first one on the rest of the head is waited for."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self._late is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing to wait for."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._late = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


# Somebody's answer on its way is waited for so many seconds when the server ends.
GRACE = 10
# And so long a process may be silent before another one takes its place.
PATIENCE = 60


@takes_options(ServeSpec)
def serve(folder: str | Path | Sequence[str | Path], **options: Unpack[ServeOptions]) -> None:
    """Serves a built study until Ctrl-C, or several with one first page, where whoever comes is given one of them.

    Args:
        folder: of the study, or the folders of several.
        options: see docs/deployment.md; several studies need a database.
    """
    asked = checked_spec(ServeSpec, options)
    trusted, names, workers = proxies(asked.proxy), host_names(asked.host_name), asked.workers
    share_clock()
    folders = [str(one) for one in ([folder] if isinstance(folder, str | Path) else folder)]
    url = asked.database or _their_database(folders)
    studies = [load_study(one) for one in folders]
    if len(studies) > 1:
        check_alike(studies)
    # Opened once before there are several processes: tables are made here, and what is wrong is said here.
    open_together(studies, url, folders=folders).close()
    url = present_url(url)
    listener = listen(asked.host, asked.port)
    many = f"with {workers} processes " if workers > 1 else ""
    title = asked.title or studies[0].spec.title
    print(f"{title!r} is served {many}at {address(listener)}")
    if len(studies) > 1:
        for study in studies:
            behind = f"{address(listener)[:-1]}{folder_of(study)}"
            print(f"  {study.spec.title!r} for experimenters: {behind}/experimenter")
    for study in studies:
        alerts = read_alerts(study.home) if study.home else None
        if alerts is not None:
            print(f"Alerts of {study.spec.title!r} go to {' and '.join(alerts.told)}")
    print(
        f"Answers go to {make_url(url).render_as_string(hide_password=True)}\nPress Ctrl-C to end.",
        flush=True,
    )
    run(partial(_worker, folders, url, names, title), listener, workers, trusted)
    print("Ended. Every answer that was given is stored.", flush=True)


def _their_database(folders: Sequence[str]) -> str:
    if len(folders) == 1:
        return default_database(folders[0])
    beside = Path(folders[0]).parent / "answers.sqlite"
    raise VeraxError(
        "Studies that are served together have their answers in one database, so that places are counted over all of "
        f"them; name it, as with --database sqlite:///{beside}, here and in later commands."
    )


def default_database(folder: str | Path) -> str:
    """The URL of the SQLite file in a study's folder."""
    return f"sqlite:///{Path(folder).resolve() / 'answers.sqlite'}"


QUEUE = 2048  # connections that wait to be taken
# And that a process takes at once. With all that wait, one of two processes would have most of a crowd, and those who
# are with it wait several times as long as the others.
TAKEN = 4


class Listener(socket.socket):
    """A socket with a long queue, from which asyncio takes a few at a time: it has one number for both."""

    def listen(self, backlog: int = QUEUE, /) -> None:
        """Begins to listen."""
        super().listen(max(backlog, QUEUE))


def _rebuild(handle: Any, family: int) -> Listener:
    return Listener(family, fileno=handle.detach())


# Workers are given the socket; it is pickled by its exact type.
ForkingPickler.register(Listener, lambda one: (_rebuild, (DupFd(one.fileno()), one.family)))


def listen(host: str, port: int) -> socket.socket:
    """The socket that all processes share; a port that is taken is a sentence."""
    listener = Listener(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except (OSError, OverflowError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or error
        raise VeraxError(
            f"Nothing can be served at {host}, port {port} ({reason}); end what runs there, or choose another port."
        ) from error
    # Another server must find the port taken from now on, not only once the first process is up.
    listener.listen(QUEUE)
    return listener


def address(listener: socket.socket) -> str:
    """The address to type into a browser."""
    host, port = listener.getsockname()[:2]
    shown = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, host)
    return f"http://[{shown}]:{port}/" if ":" in shown else f"http://{shown}:{port}/"


def proxies(addresses: str) -> list[str]:
    """Addresses and networks, with commas between, of reverse proxies; "*" for whoever connects."""
    trusted = [address.strip() for address in addresses.split(",") if address.strip()]
    for address in trusted:
        try:
            if address != "*":
                ip_network(address)
        except ValueError as error:
            raise VeraxError(
                f"{address!r} is not the address of a reverse proxy ({error}); write one such as 127.0.0.1, or a "
                "network such as 10.0.0.0/8, with commas between if there are several."
            ) from error
    return trusted


def run(
    make: Callable[[], ASGIApp], listener: socket.socket, workers: int = 1, trusted: Sequence[str] = ()
) -> None:
    """Runs an application until Ctrl-C.

    Args:
        make: makes the application in each process; can be pickled.
        listener: what they listen at.
        workers: processes.
        trusted: proxies whose word is taken for where a request comes from, and whether by https.
    """
    config = uvicorn.Config(
        make,
        factory=True,
        workers=workers,
        http=BoundedProtocol,
        ws="none",
        backlog=TAKEN,
        log_level="warning",
        access_log=False,  # the addresses hold tokens, and who asked from where is nobody's business
        server_header=False,
        # Without a proxy anybody could write these headers, and be somebody else at each try.
        proxy_headers=bool(trusted),
        forwarded_allow_ips=list(trusted),
        timeout_graceful_shutdown=GRACE,
        # A process that is still starting on a busy machine must not be taken for dead, and started anew for ever.
        timeout_worker_healthcheck=PATIENCE,
    )
    try:
        if workers > 1:
            Multiprocess(config, [listener]).run()
        else:
            uvicorn.Server(config).run([listener])
    except KeyboardInterrupt:
        pass
    finally:
        listener.close()


def _end_with_parent() -> None:
    """Ends this process when the one that began it is killed: it would hold the port, and nobody could begin anew."""
    parent = parent_process()
    if parent is None:
        return

    def watch(sentinel: int) -> None:
        wait([sentinel])
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(2 * GRACE)  # for answers on their way
        os._exit(1)

    Thread(target=watch, args=(parent.sentinel,), daemon=True).start()


def _worker(folders: Sequence[str], url: str, hosts: Sequence[str] = (), title: str = "") -> ASGIApp:
    _end_with_parent()
    studies = [load_study(folder) for folder in folders]
    together = open_together(studies, url, folders=folders)
    freezes = {study.hash: frozen(folder) for study, folder in zip(studies, folders, strict=True)}
    when = {hash: freeze.at for hash, freeze in freezes.items() if freeze is not None}
    if len(studies) > 1:
        return joint_app(together, title=title, frozen=when, hosts=hosts)
    return make_app(together.stores[0], studies[0], frozen=when.get(studies[0].hash), hosts=hosts)


SERVE = (
    "import sys; from verax.web.serve import serve; serve(sys.argv[2:], database=sys.argv[1] or None, port=0)"
)
PREVIEW = (
    "import sys; from verax.web.preview import preview; preview(sys.argv[1], int(sys.argv[2]), sys.argv[3])"
)
ADDRESS = re.compile(r"(?:is served .*at|can be looked at under) (https?://\S+)")
# A server that was told to end is waited for so many seconds.
ENDS = 20


@contextmanager
def serving_aside(folder: str | Path | Sequence[str | Path], database: str | None = None) -> Iterator[str]:
    """Serves a study on a free port of this machine, in a process of its own; its address.

    Args:
        folder: of the study, or the folders of several that are served together.
        database: its URL; a SQLite file in the study's folder if None.
    """
    folders = [folder] if isinstance(folder, str | Path) else folder
    with _aside(SERVE, database or "", *map(str, folders)) as address:
        yield address


@contextmanager
def previewing_aside(folder: str | Path, port: int = 0, host: str = "127.0.0.1") -> Iterator[str]:
    """Serves a study to look at, in a process of its own; its address. Nothing is recorded.

    Args:
        folder: of the study.
        port: 0 takes any free one.
        host: the address to listen at.
    """
    with _aside(PREVIEW, str(folder), str(port), host) as address:
        yield address


@contextmanager
def _aside(code: str, *arguments: str) -> Iterator[str]:
    """Runs code that prints where it serves in a new process; ends it afterwards."""
    command = [sys.executable, "-c", code, *arguments]
    # It finds what this process finds, as a protocol in the current folder; and Ctrl-C is not for it, but for us.
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with tempfile.TemporaryFile("w+", encoding="utf-8") as complaints:
        server = subprocess.Popen(
            command,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=complaints,
            text=True,
            start_new_session=True,
        )
        try:
            yield _address(server, complaints)
        finally:
            _end(server)


def _address(server: subprocess.Popen[str], complaints: TextIO) -> str:
    assert server.stdout is not None
    for line in server.stdout:
        said = ADDRESS.search(line)
        if said is not None:
            return said[1]
    server.wait()
    complaints.seek(0)
    lines = complaints.read().splitlines()
    reason = lines[-1].removeprefix("verax.errors.VeraxError: ") if lines else "it said nothing"
    raise VeraxError(f"The study could not be served: {reason}")


def _end(server: subprocess.Popen[str]) -> None:
    server.terminate()
    try:
        server.communicate(timeout=ENDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.communicate()
