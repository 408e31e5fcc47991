"""Every command in docs/deployment.md and in the files that it names exists, with every option that stands there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer
import yaml

from verax.cli.main import app

PAGE = Path(__file__).parents[2] / "docs" / "deployment.md"
FILES = PAGE.parent / "server"
COMMAND = re.compile(r"(?:^|[`/' ])(verax study [^`'\n]*)", re.MULTILINE)


def typed() -> list[str]:
    """What the page tells to type: whole lines, commands inside of sentences, and those of services."""
    texts = [path.read_text(encoding="utf-8") for path in (PAGE, *sorted(FILES.glob("*.service")))]
    page = re.sub(r"\$\$\(date[^)]*\)", "DATE", "\n".join(texts))  # systemd's way to write $(date)
    return [found.group(1).split(" > ")[0].strip() for found in COMMAND.finditer(page)]


def test_the_page_has_every_command_of_a_studys_life():
    named = {command.split()[2] for command in typed()}
    assert named >= {
        "account", "analyze", "backup", "bots", "build", "export", "freeze", "move", "preview", "purge", "restore",
        "serve", "status", "withdraw",
    }  # fmt: skip


@pytest.mark.parametrize("command", sorted(set(typed())))
def test_a_command_of_the_page_exists_with_its_options(command):
    # Parsed as the program would, to the last option and argument; but nothing is run.
    group = typer.main.get_command(app).commands["study"]
    _, _, name, *arguments = shlex.split(command)
    if len(arguments) == 0:
        assert name in group.commands  # only spoken of
    else:
        group.commands[name].make_context(name, arguments)


def test_the_page_and_the_compose_file_ask_for_health_and_name_the_host():
    service, health = (
        (FILES / f"verax-forward{name}.service").read_text(encoding="utf-8") for name in ("", "-health")
    )
    assert "Restart=always" in service
    assert "OnFailure=" in health
    assert "http://127.0.0.1:8000/health" in service
    assert "http://127.0.0.1:8000/health" in health
    assert "--host-name study.example.org" in service
    compose = yaml.safe_load((PAGE.parents[1] / "examples" / "compose.yaml").read_text(encoding="utf-8"))
    study = compose["services"]["study"]
    assert any("/health" in word for word in study["healthcheck"]["test"])
    # The command is one that there is, to the last option.
    command = re.sub(r"\$\{VERAX_HOST_NAME[^}]*\}", "study.example.org", study["command"])
    _, _, name, *arguments = shlex.split(command)
    group = typer.main.get_command(app).commands["study"]
    assert group.commands[name].make_context(name, arguments).params["host_name"] == "study.example.org"
    # Nobody outside reaches the server but through the proxy, nor the database at all.
    assert study["ports"] == ["127.0.0.1:8000:8000"]
    assert "ports" not in compose["services"]["db"]


def test_commands_of_the_proxy_and_the_containers_have_what_they_need():
    """Debian's own site is a default server too, and compose reads its file anew with every command."""
    page = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    (proxy,) = (block for block in blocks if "nginx -t" in block)
    assert proxy.index("rm /etc/nginx/sites-enabled/default") < proxy.index("nginx -t")
    (containers,) = (block for block in blocks if "docker compose" in block)
    assert containers.index("export VERAX_HOST_NAME=") < containers.index("docker compose")
    # Whoever built the folder, the user in the container reads it.
    compose = (PAGE.parents[1] / "examples" / "compose.yaml").read_text(encoding="utf-8")
    number = re.search(r"useradd --uid (\d+)", compose)[1]
    assert containers.startswith(f"chown --recursive {number} studies/forward\n")
    assert re.search(r"apt-get install [^\n]*\bcurl\b", page)  # the services ask for health with it


def test_nginx_limits_forms_and_answers_no_other_name():
    nginx = (FILES / "forward").read_text(encoding="utf-8")
    assert nginx.count("{") == nginx.count("}")
    zones = set(re.findall(r"limit_(?:req|conn)_zone \S+ zone=(\w+):", nginx))
    used = set(re.findall(r"limit_req zone=(\w+)", nginx)) | set(re.findall(r"limit_conn (\w+) ", nginx))
    assert zones == used == {"forms_from", "forms_of", "connections"}
    assert "return 444" in nginx
    assert "$host" not in nginx.replace("$http_host", "")
    assert "Strict-Transport-Security" in nginx


def test_the_files_that_the_page_names_are_there_and_no_others():
    page = PAGE.read_text(encoding="utf-8")
    enabled = re.search(r"systemctl enable --now ([^\n]*)", page)[1].split()
    services = {name if "." in name else f"{name}.service" for name in enabled}
    # A timer starts the service of its name.
    started = {name.replace(".timer", ".service") for name in services}
    linked = set(re.findall(r"\(server/([\w.-]+)", page))
    assert {path.name for path in FILES.iterdir()} == services | started | linked


def test_the_alerts_of_the_page_are_read():
    from verax.web.alerts import read_alerts

    assert read_alerts(FILES) is not None
