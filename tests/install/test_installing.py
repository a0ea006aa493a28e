"""Tests from a fresh Debian to a service, a newer version, a broken one, and a removal.

The tests of a release run in one machine, in the order in which they are written.
"""

from collections.abc import Iterator

import pytest

from tests.install.releases import RELEASES
from tests.install.stage import INSTALLER, Box, box
from tests.service.machine import MachineError

pytestmark = [pytest.mark.service, pytest.mark.timeout(900), pytest.mark.xdist_group("install")]

# Whatever a person may call Hearth's; what apt and systemd keep of their own work is theirs.
_EVERYTHING = (
    "find / -xdev \\( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /root"
    " -o -path /var/lib/apt -o -path /var/cache -o -path /var/log/journal -o -path /run/log"
    " -o -path /var/tmp -o -path /var/lib/systemd -o -path /run/systemd -o -path /run/credentials"
    " -o -path /run/user \\) -prune -o -print | LC_ALL=C sort"
)


@pytest.fixture(scope="module", params=RELEASES)
def fresh(request: pytest.FixtureRequest) -> Iterator[Box]:
    """Yield a machine without anything of Hearth."""
    with box(request.param) as there:
        there.machine.run(["mkdir", "-p", "/etc/hearth"])
        there.configure()
        yield there


def test_it_installs_itself_and_asks_nothing(fresh: Box) -> None:
    said = fresh.install("--yes")
    assert "it listens" in said
    assert "home assistant" in said  # a row of the doctor's table
    assert said.splitlines()[-1].endswith('Next: hearth ask "what time is it"')
    assert fresh.active
    assert fresh.machine.show("hearth.service", "UnitFileState") == "enabled"


def test_a_turn_by_http(fresh: Box) -> None:
    turn = fresh.post("/v1/ask", {"text": "turn on the kitchen light"})
    assert turn["answer"] == "Turned on the kitchen light."
    assert [call["status"] for call in turn["tool_calls"]] == ["done"]


def test_a_person_types_hearth_and_speaks_to_the_same_box(fresh: Box) -> None:
    shown = fresh.machine.run(["hearth", "trace", "--json"]).stdout
    assert "turn on the kitchen light" in shown
    owners = fresh.machine.shell("stat -c %U /var/lib/hearth/* | sort -u")
    assert owners.split() == ["hearth"]


def test_nobody_else_reads_the_configuration_or_the_state(fresh: Box) -> None:
    modes = fresh.machine.shell(
        "stat -c '%a %U %G' /etc/hearth /var/lib/hearth /etc/hearth/hearth.toml"
    )
    assert modes.splitlines() == ["750 hearth hearth", "700 hearth hearth", "640 hearth hearth"]


def test_a_second_run_changes_nothing(fresh: Box) -> None:
    before = fresh.pid
    said = fresh.install("--yes")
    assert "Hearth is running, and nothing has changed" in said
    assert fresh.pid == before


def test_a_newer_version_takes_over_and_the_state_stays(fresh: Box) -> None:
    timer = fresh.post("/v1/timers", {"kind": "timer", "seconds": 7200, "name": "pasta"})
    kept = (fresh.machine.root / "var/lib/hearth/http_token").read_text()
    assert kept.startswith("sha256:")
    fresh.replace_in_source("pyproject.toml", 'version = "0.', 'version = "7.')
    before = fresh.pid
    said = fresh.install("--yes")
    assert "Hearth 7." in said.splitlines()[-1]
    assert fresh.pid not in (0, before)
    assert (fresh.machine.root / "var/lib/hearth/http_token").read_text() == kept
    assert [row["id"] for row in fresh.get("/v1/timers")] == [timer["id"]]
    assert fresh.machine.shell("ls /opt/hearth/releases | wc -l").strip() == "2"


def test_a_version_that_does_not_come_up_gives_way_to_the_old_one(fresh: Box) -> None:
    broken = "async def serve(settings: Settings, hooks: Hooks) -> Ended:\n"
    spoiling = (
        f"{broken}"
        "    (settings.data_folder / 'http_token').write_text('spoiled')\n"
        "    (settings.data_folder / 'of-the-new-version').touch()\n"
        "    raise RuntimeError('this version is broken')\n"
    )
    fresh.replace_in_source("assistant/app/daemon.py", broken, spoiling)
    fresh.replace_in_source("pyproject.toml", 'version = "7.', 'version = "8.')
    said = fresh.install("--yes", check=False)
    assert "this version is broken" in said
    assert "Hearth 7." in said.splitlines()[-1]
    assert fresh.active
    assert [row["name"] for row in fresh.get("/v1/timers")] == ["pasta"]
    left = fresh.machine.shell("ls /var/lib/hearth /opt/hearth")
    assert "of-the-new-version" not in left
    assert "before-upgrade" not in left


def test_a_version_that_cannot_be_built_does_not_stop_the_old_one(fresh: Box) -> None:
    before = fresh.pid
    fresh.replace_in_source("pyproject.toml", 'version = "8.', 'version = "no version ')
    assert fresh.refuses("--yes").startswith("Not done: pip could not install")
    assert fresh.pid == before
    assert fresh.machine.shell("ls /opt/hearth/releases | wc -l").strip() in ("1", "2")


def test_two_installations_do_not_meet(fresh: Box) -> None:
    script = f"exec 9>/run/hearth-install.lock; flock 9; {INSTALLER} --yes 9>&-"
    with pytest.raises(MachineError, match="another installation is running"):
        fresh.machine.shell(script)


def test_taken_away_it_leaves_what_it_says(fresh: Box) -> None:
    said = fresh.machine.shell("/opt/hearth/installer/install.sh --uninstall --yes 2>&1")
    assert "Kept: /etc/hearth /var/lib/hearth, and the user hearth" in said
    assert "libportaudio2" in said  # a package that came with it
    left = fresh.machine.shell("find / -xdev -name '*hearth*' -not -path '/root/*' -prune -print")
    left = left.replace("/etc/hearth-root", "")  # the mark of the root that it was made from
    assert sorted(left.split()) == ["/etc/hearth", "/var/lib/hearth"]
    assert fresh.machine.show("hearth.service", "LoadState") == "not-found"


def test_what_was_left_is_taken_up_again(fresh: Box) -> None:
    fresh.replace_in_source("pyproject.toml", 'version = "no version ', 'version = "9.')
    fresh.replace_in_source(
        "assistant/app/daemon.py", "    raise RuntimeError('this version is broken')", ""
    )
    fresh.replace_in_source(
        "assistant/app/daemon.py",
        "    (settings.data_folder / 'http_token').write_text('spoiled')",
        "",
    )
    fresh.install("--yes")
    assert [row["name"] for row in fresh.get("/v1/timers")] == ["pasta"]


def test_purged_it_leaves_nothing(fresh: Box) -> None:
    fresh.install("--uninstall", "--purge", "--yes")
    before = fresh.machine.shell(_EVERYTHING).splitlines()
    fresh.install("--yes")  # from nothing once more; the Debian packages are there
    assert fresh.active
    fresh.install("--uninstall", "--purge", "--yes")
    assert fresh.machine.shell(_EVERYTHING).splitlines() == before
    assert fresh.machine.run(["id", "hearth"], check=False).returncode == 1
