"""An experimenter as a program: signs in, reads the token of the forms, sends them."""

from __future__ import annotations

import re

import httpx
from argon2 import PasswordHasher
from sqlalchemy import insert

from verax.studies.store import Store
from verax.studies.store.accounts import Role, set_role
from verax.studies.store.tables import experimenters

NAME, PASSWORD = "anna", "correct horse battery"


# The hash says itself what it costs; a real one takes a tenth of a second.
CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)


def add_anna(store: Store, name: str = NAME, role: Role = "owner") -> None:
    """An account whose password is quickly checked."""
    account = {"name": name, "password_hash": CHEAP, "created_at": 0}
    store.database.write(lambda connection: connection.execute(insert(experimenters), account))
    set_role(store, name, role)


def knock(client: httpx.Client, name: str = NAME, password: str = PASSWORD, **headers: str) -> httpx.Response:
    """Tries to sign in."""
    return client.post(
        "/experimenter/sign-in", data={"name": name, "password": password}, headers=_headers(headers)
    )


def signed_in(client: httpx.Client) -> str:
    """Signs in; the token of the session's forms."""
    assert knock(client).status_code == 303
    return form_token(client)


def form_token(client: httpx.Client) -> str:
    """What every form of the session holds; signing out needs it whatever the role is."""
    page = client.get("/experimenter")
    assert page.status_code == 200
    found = re.search(r'name="form" value="([0-9a-f]{64})"', page.text)
    assert found is not None
    return found[1]


def send(client: httpx.Client, path: str, token: str, data: dict[str, str] | None = None, **headers: str):
    """Sends one of the forms."""
    form = {"form": token} | (data or {})
    return client.post(f"/experimenter/{path}", data=form, headers=_headers(headers))


def _headers(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}
