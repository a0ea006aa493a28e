"""Tests of what the unit's sandbox allows and denies."""

from pathlib import Path

import pytest

from tests.service.installed import STATE, UNIT, UVX, VENV, Installed

pytestmark = [pytest.mark.service, pytest.mark.timeout(240, func_only=True)]

PROBE = "probe.service"
_OF_A_DAEMON = (
    *("Type=", "NotifyAccess=", "Exec", "Restart", "Watchdog", "Timeout", "KillMode="),
    *("RuntimeDirectory", "LoadCredential="),
)
_SERVER = f"""\
[[mcp.servers]]
name = "time"
transport = "stdio"
command = "{UVX}"
args = ["mcp-server-time@2026.10.19"]
env = {{ SSL_CERT_FILE = "/etc/ssl/certs/ca-certificates.crt" }}
timeout_s = 90
"""


def _probe(hearth: Installed, script: str, more: str = "") -> tuple[bool, str]:
    """Run a shell script in the unit's sandbox; return whether it succeeded, and its output."""
    machine = hearth.machine
    unit = (machine.root / "etc/systemd/system" / UNIT).read_text()
    service = unit.partition("[Service]")[2].partition("[Install]")[0]
    walls = [line for line in service.splitlines() if not line.startswith(_OF_A_DAEMON)]
    machine.write("/etc/probe.sh", script)
    lines = ["[Service]", "Type=oneshot", "ExecStart=/bin/bash -eu /etc/probe.sh", *walls, more]
    machine.write(f"/etc/systemd/system/{PROBE}", "\n".join(lines) + "\n")
    machine.run(["systemctl", "daemon-reload"])
    before = machine.journal(PROBE)
    went = machine.run(["systemctl", "start", PROBE], check=False).returncode == 0
    return went, machine.journal(PROBE).removeprefix(before)


def test_a_tool_server_is_fetched_and_run_inside(hearth: Installed) -> None:
    machine = hearth.machine
    before = _offers(hearth)
    hearth.configure(_SERVER)
    machine.run(["systemctl", "restart", UNIT])
    machine.until(hearth.answers, "a turn")
    machine.until(lambda: _serves(hearth), "the server", 90)
    machine.until(lambda: _offers(hearth), "its tools", 90)
    assert not before
    cache = machine.root / STATE.lstrip("/") / ".cache/uv"
    assert cache.is_dir()
    assert cache.stat().st_uid == Path(machine.root / STATE.lstrip("/")).stat().st_uid != 0
    machine.run(["systemctl", "stop", UNIT])
    assert not [line for line in machine.processes() if "mcp-server-time" in line]


def test_it_writes_nothing_but_its_own_folders(hearth: Installed) -> None:
    machine = hearth.machine
    machine.shell("mkdir -p /srv/notes /home/ana && chown hearth /srv/notes && touch /home/ana/x")
    went, said = _probe(
        hearth,
        """
        touch "$HOME/inside" /tmp/inside
        for path in /srv/notes/x /etc/x /opt/x /var/x /usr/x; do
            ! touch $path 2>/dev/null || { echo "wrote $path"; exit 1; }
        done
        ! ls /home/ana /root 2>/dev/null || { echo "saw a home"; exit 1; }
        ! cat /etc/credstore/* 2>/dev/null || { echo "saw secrets"; exit 1; }
        """,
    )
    assert went, said
    went, said = _probe(hearth, "touch /srv/notes/x", more="ReadWritePaths=/srv/notes")
    assert went, said  # as docs/service.md says


def test_what_hearth_and_its_servers_need_is_not_forbidden(hearth: Installed) -> None:
    went, said = _probe(
        hearth,
        f"""
        {VENV}/bin/python -c '
import ctypes, socket, threading
from assistant.domain.clock import synchronised
from assistant.conversation.hearing import name_thread
buffer = ctypes.create_string_buffer(512)
assert ctypes.CDLL(None, use_errno=True).adjtimex(buffer) >= 0, "the clock cannot be asked"
kept = []
kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
kept.append(kind(lambda number: number))  # as PortAudio calls us back
assert kept[0](3) == 3
socket.getaddrinfo("localhost", 80)
'
        """,
    )
    assert went, said


def test_it_leaves_the_machine_some_of_its_memory(hearth: Installed) -> None:
    told = hearth.machine.shell("sed -n 's/^MemTotal: *\\([0-9]*\\) kB/\\1/p' /proc/meminfo")
    all_of_it = int(told) * 1024
    high, most = (int(hearth.machine.show(UNIT, f"Memory{name}")) for name in ("High", "Max"))
    assert 0.55 * all_of_it < high < most < 0.8 * all_of_it
    assert hearth.machine.show(UNIT, "OOMPolicy") == "continue"


def _serves(hearth: Installed) -> bool:
    return any("bin/mcp-server-time" in line for line in hearth.machine.processes())


def _offers(hearth: Installed) -> bool:
    """Return whether the doctor finds its tools, beside those of the house."""
    found = [f"{finding['check']}: {finding['detail']}" for finding in hearth.get("/v1/doctor")]
    confined = "server time: 2 tools; sandboxed, cannot read Hearth's files"
    # The machine that boots it may keep Landlock from it.
    unconfined = "server time: 2 tools; not sandboxed: this kernel has no Landlock"
    return confined in found or unconfined in found
