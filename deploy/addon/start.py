"""Starts Hearth as an add-on of Home Assistant: turns what the supervisor gives into settings.

The supervisor gives the options as a JSON file, a token in the environment, and Home Assistant
behind a proxy of its own (`supervisor/api/proxy.py`): /core/api and, as a websocket,
/core/api/websocket. So http://supervisor/core serves as Home Assistant's address. It is asked for
the broker (`/services/mqtt`), and answers 400 if there is none.
"""

import json
import os
import pwd
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SUPERVISOR = "http://supervisor"
OPTIONS = Path("/data/options.json")
DATA = Path("/data/hearth")
CONFIGURATION = Path("/config/hearth.toml")  # the add-on's own folder, which people can write to
MEDIA = Path("/media")
HEARTH = "/opt/hearth/venv/bin/hearth"
USER = "hearth"

_PATIENCE_S = 10.0
_FIRST_CONFIGURATION = """\
# Hearth's configuration, beside the options of the add-on, which count more. Every key stands in
# docs/configuration.md. Home Assistant and the broker need none.
"""


def settings(
    options: Mapping[str, Any], token: str, broker: Mapping[str, Any] | None, at: str = SUPERVISOR
) -> dict[str, str]:
    """The environment that stands for the options: HEARTH_SECTION__KEY.

    `broker`: the supervisor's answer, or None. An empty option sets nothing, so that the
    configuration file counts. Raises KeyError if the broker has no host.
    """
    given = {
        "HEARTH_HOME_ASSISTANT__URL": f"{at}/core",
        "HEARTH_HOME_ASSISTANT__TOKEN": token,
        "HEARTH_ASSISTANT__DATA": str(DATA),
        # The supervisor reaches it by the container's address; no port of the machine is open.
        "HEARTH_HTTP__HOST": "0.0.0.0",
        "HEARTH_HTTP__TOKEN": str(options.get("console_token") or ""),
        "HEARTH_HTTP__INGRESS": str(options.get("console_sign_in") or "token"),
        "HEARTH_ASSISTANT__LANGUAGES": json.dumps(options.get("languages") or ["en"]),
        "HEARTH_ASSISTANT__AREA": str(options.get("area") or ""),
        "HEARTH_GEMINI__API_KEY": str(options.get("gemini_api_key") or ""),
    }
    if options.get("accept_cloud"):
        given["HEARTH_PRIVACY__ACCEPT_CLOUD"] = "true"
    if broker:
        given |= {
            "HEARTH_MQTT__HOST": str(broker["host"]),
            "HEARTH_MQTT__PORT": str(broker.get("port") or 1883),
            "HEARTH_MQTT__USERNAME": str(broker.get("username") or ""),
            "HEARTH_MQTT__PASSWORD": str(broker.get("password") or ""),
            "HEARTH_MQTT__TLS": "true" if broker.get("ssl") else "false",
        }
    return {name: value for name, value in given.items() if value}


def ask_broker(token: str, at: str = SUPERVISOR) -> dict[str, Any] | None:
    """The broker that the supervisor knows; None where it has none, or does not answer."""
    request = urllib.request.Request(
        f"{at}/services/mqtt", headers={"Authorization": f"Bearer {token}"}
    )
    try:
        with urllib.request.urlopen(request, timeout=_PATIENCE_S) as answer:
            data = json.load(answer).get("data")
    except (OSError, ValueError, AttributeError) as error:
        code = error.code if isinstance(error, urllib.error.HTTPError) else None
        if code != 400:  # which says that there is none
            print(f"The supervisor reports no broker ({code or error}).", file=sys.stderr)
        return None
    return data if isinstance(data, dict) and data.get("host") else None


def make_folders() -> None:
    """Folder that Hearth writes to, and the first configuration."""
    user = pwd.getpwnam(USER)
    DATA.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not CONFIGURATION.exists():
        CONFIGURATION.parent.mkdir(parents=True, exist_ok=True)
        CONFIGURATION.write_text(_FIRST_CONFIGURATION, encoding="utf-8")
    media = DATA / "media"
    if MEDIA.is_dir() and not media.exists():
        media.symlink_to(MEDIA)
    for path in (DATA, *DATA.rglob("*")):
        os.lchown(path, user.pw_uid, user.pw_gid)


def become_user() -> None:
    """Give up root for good."""
    user = pwd.getpwnam(USER)
    os.initgroups(USER, user.pw_gid)
    os.setgid(user.pw_gid)
    os.setuid(user.pw_uid)


def main() -> None:
    """Become Hearth."""
    token = os.environ.pop("SUPERVISOR_TOKEN", "")
    if not token:
        sys.exit("There is no SUPERVISOR_TOKEN: this program runs only as a Home Assistant add-on.")
    options = json.loads(OPTIONS.read_text(encoding="utf-8"))
    given = settings(options, token, ask_broker(token))
    make_folders()
    become_user()
    for name in ("HASSIO_TOKEN", "PYTHONPATH"):
        os.environ.pop(name, None)
    surroundings = {**os.environ, "HOME": str(DATA), "PYTHONUNBUFFERED": "1", **given}
    os.chdir(DATA)
    os.execve(HEARTH, [HEARTH, "run", "--config", str(CONFIGURATION)], surroundings)


if __name__ == "__main__":
    main()
