"""A Debian that is really booted, with systemd as its first process, for the tests of the unit.

    with machine("bookworm") as debian:
        debian.push(folder, "/root/hearth")
        debian.run(["systemctl", "start", "hearth"])
        print(debian.journal("hearth"))

It runs in a container (systemd-nspawn) and shares the network with this machine, so its ports on
127.0.0.1 are ours: take free ones. Needs root and Debian's packages `debootstrap` and
`systemd-container`. A base system is made once and kept; each machine sees it through an overlay of
its own, which ends with it.

`python -m tests.service.machine [RELEASE] [COMMAND ...]` runs the command in one, or a shell.
"""

import contextlib
import fcntl
import hashlib
import itertools
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOTS = Path(os.environ.get("HEARTH_ROOTS", "/var/tmp/hearth-roots"))
RELEASES = ("bookworm", "trixie")  # Debian 12 with systemd 252, Debian 13 with systemd 257

_PACKAGES = "systemd,systemd-sysv,dbus,ca-certificates"
_MAKE_S, _BOOT_S, _STOP_S = 900.0, 60.0, 20.0
_HIERARCHIES = ("/sys/fs/cgroup/systemd", "/sys/fs/cgroup/unified", "/sys/fs/cgroup")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_NUMBERS = itertools.count()


class MachineError(Exception):
    """Something failed in the machine, or with it; the text is the program's own."""


@dataclass(frozen=True, slots=True)
class Machine:
    """A booted Debian."""

    release: str
    root: Path  # its file system, as this machine sees it; write before a service reads it
    leader: int  # its first process, as this machine numbers it

    def run(
        self,
        command: Sequence[str | Path],
        *,
        check: bool = True,
        timeout: float = 120.0,
        user: str = "root",
        environment: dict[str, str] | None = None,
        stdin: str = "",
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in it and wait; raises MachineError if it fails and `check` is set.

        It belongs to no service: it has this machine's rights, and no limits. `systemd-run` in it
        gives some.
        """
        words = [str(word) for word in command]
        if user != "root":
            words = ["runuser", "-u", user, "--", *words]
        done = subprocess.run(
            [*self._enter(), *_environment(environment), *words],
            input=stdin,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
        )
        if check and done.returncode != 0:
            said = done.stdout[-4000:] + done.stderr[-4000:]
            raise MachineError(f"{shlex.join(words)} gave {done.returncode}:\n{said}")
        return done

    def shell(self, script: str, *, check: bool = True, timeout: float = 120.0) -> str:
        """Return the output of a shell script in it, which ends at the first command that fails."""
        return self.run(
            ["bash", "-euo", "pipefail", "-c", script], check=check, timeout=timeout
        ).stdout

    def journal(self, unit: str) -> str:
        """Return the lines of a unit, and those of systemd about it, since the machine was
        booted."""
        asked = ["journalctl", "--no-pager", "--output=short-precise", "--unit", unit]
        return self.run(asked, check=False).stdout

    def show(self, unit: str, name: str) -> str:
        """Return one property of a unit, as `systemctl show` prints it."""
        return self.run(["systemctl", "show", "--value", "--property", name, unit]).stdout.strip()

    def processes(self) -> list[str]:
        """Return the command line of each of its processes."""
        script = "for own in /proc/[0-9]*; do tr '\\0' ' ' <$own/cmdline 2>/dev/null && echo; done"
        return self.shell(script + "; true").splitlines()

    def push(self, source: Path, target: str | Path) -> None:
        """Copy a file or a folder into it, owned by root. A folder becomes `target`."""
        goal = self.root / str(target).lstrip("/")
        goal.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, goal, symlinks=True, dirs_exist_ok=True)
        else:
            shutil.copy2(source, goal)

    def write(self, target: str | Path, text: str, mode: int = 0o644) -> None:
        """Write a file into it, owned by root."""
        goal = self.root / str(target).lstrip("/")
        goal.parent.mkdir(parents=True, exist_ok=True)
        goal.write_text(text)
        goal.chmod(mode)

    def pid_here(self, pid_there: int) -> int:
        """Return this machine's number of a process of that one. Raises MachineError."""
        namespace = Path(f"/proc/{self.leader}/ns/pid").readlink()
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            with contextlib.suppress(OSError):
                if (entry / "ns/pid").readlink() != namespace:
                    continue
                found = re.search(
                    r"^NSpid:.*\s(\d+)$", (entry / "status").read_text(), re.MULTILINE
                )
                if found and int(found[1]) == pid_there:
                    return int(entry.name)
        raise MachineError(f"there is no process {pid_there} in it")

    def until(
        self,
        condition: Callable[[], bool],
        what: str,
        timeout: float = 30.0,
        every_s: float = 0.05,
    ) -> float:
        """Wait until `condition` holds, and return the seconds it took. Raises MachineError.

        Hearth answers ten requests a second at most: a condition that asks it needs a longer
        `every_s`.
        """
        started = time.monotonic()
        while not condition():
            if time.monotonic() - started > timeout:
                raise MachineError(f"{what}: not within {timeout:g} s")
            time.sleep(every_s)
        return time.monotonic() - started

    def _enter(self) -> list[str]:
        return ["nsenter", "--target", str(self.leader), *"-m -p -u -i -n -C".split(), "--"]


@contextmanager
def machine(
    release: str = "bookworm", *, base: Path | None = None, bind: Sequence[Path] = ()
) -> Iterator[Machine]:
    """Boot a Debian, and power it off at the end.

    `base`: its system; by default a fresh minimal one of that release (`fresh_root`). `bind`:
    folders of this machine that it sees under the same path, read-only. Raises MachineError.
    """
    _clear_away()
    folder = ROOTS / f"run-{os.getpid()}-{next(_NUMBERS)}"
    root = folder / "root"
    with _overlaid(base or fresh_root(release), folder, root):
        lend_network(root)
        with _booted(root, folder, bind) as leader:
            yield Machine(release, root, leader)


def fresh_root(release: str) -> Path:
    """Return a minimal Debian with systemd and nothing else, made the first time."""

    def make(folder: Path) -> None:
        script = Path("/usr/share/debootstrap/scripts", release)
        # an older debootstrap does not know the names of newer releases
        known = script if script.exists() else script.with_name("sid")
        options = ["--variant=minbase", f"--include={_PACKAGES}"]
        _done(["debootstrap", *options, release, str(folder), _mirror(), str(known)])
        for package in (folder / "var/cache/apt/archives").glob("*.deb"):
            package.unlink()

    return _kept(f"booted-{release}", _PACKAGES, make)


def prepared_root(release: str, name: str, script: str, *also: str) -> Path:
    """Return the minimal Debian after a shell script has run as root, not booted; made once.

    `also`: other dependencies; if they or the script change, it is made again.
    """
    base = fresh_root(release)

    def make(folder: Path) -> None:
        _done(["cp", "-a", "--reflink=auto", "--no-target-directory", str(base), str(folder)])
        lend_network(folder)
        _done(
            ["chroot", str(folder), *_environment(None), "bash", "-euxo", "pipefail", "-c", script]
        )
        lend_network(folder)  # installing the certificates writes the bundle anew

    return _kept(f"booted-{release}-{name}", "\0".join([script, *also]), make)


def lend_network(root: Path) -> None:
    """Copy the settings of this machine's network: names, certificates, pip's settings."""
    for path in ("resolv.conf", "hosts", "ssl/certs/ca-certificates.crt", "pip.conf"):
        source, target = Path("/etc", path), root / "etc" / path
        if source.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            shutil.copy2(source, target)


def _environment(more: dict[str, str] | None) -> list[str]:
    """Return the words before a command that give it exactly this environment."""
    words = {
        "HOME": "/root",
        "LANG": "C.UTF-8",
        "PATH": _PATH,
        "TERM": "dumb",
        "DEBIAN_FRONTEND": "noninteractive",
        "SYSTEMD_PAGER": "",
        **(more or {}),
    }
    return ["env", "-i", *(f"{name}={value}" for name, value in words.items())]


def _mirror() -> str:
    """Return the mirror that this machine's own apt uses."""
    asked = ["apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages"]
    for line in _done(asked).splitlines():
        if line.rstrip("/").endswith("/debian"):
            return line
    raise MachineError("apt's configuration names no Debian mirror")


def _kept(name: str, content: str, make: Callable[[Path], None]) -> Path:
    """Return the root of that name and content, made if needed. One maker at a time."""
    ROOTS.mkdir(parents=True, exist_ok=True)
    goal, stamp = ROOTS / name, hashlib.sha256(content.encode()).hexdigest()
    with (ROOTS / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        seal = goal / "etc/hearth-root"
        if seal.exists() and seal.read_text() == stamp:
            return goal
        started, new = time.monotonic(), ROOTS / f"{name}.new"
        print(f"making {goal} (once)", file=sys.stderr)
        _done(["rm", "-rf", "--one-file-system", "--", str(new)])
        make(new)
        if goal.exists():  # a machine may stand on it
            goal.rename(ROOTS / f"{name}.old-{os.getpid()}")
        (new / "etc/hearth-root").write_text(stamp)
        new.rename(goal)
        print(f"made {goal} in {time.monotonic() - started:.0f} s", file=sys.stderr)
    return goal


def _done(command: Sequence[str]) -> str:
    """Return the output of a command on this machine. Raises MachineError with its last words."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=_MAKE_S
        )
    except FileNotFoundError as error:
        raise MachineError(
            f"there is no {command[0]}; install what the head of this file names"
        ) from error
    if done.returncode != 0:
        raise MachineError(f"{command[0]} failed: {(done.stdout + done.stderr)[-3000:]}")
    return done.stdout


@contextmanager
def _overlaid(base: Path, folder: Path, root: Path) -> Iterator[None]:
    """Mount `base` at `root`, where it can be changed; the changes end with it."""
    upper, work = folder / "upper", folder / "work"
    for part in (upper, work, root):
        part.mkdir(parents=True)
    options = f"lowerdir={base},upperdir={upper},workdir={work}"
    used = os.open(base, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(used, fcntl.LOCK_SH)
    try:
        _done(["mount", "-t", "overlay", "overlay", "-o", options, str(root)])
        yield
    finally:
        _remove(folder)
        os.close(used)


def _remove(folder: Path) -> None:
    subprocess.run(["umount", "--lazy", str(folder / "root")], capture_output=True)
    _done(["rm", "-rf", "--one-file-system", "--", str(folder)])


def _clear_away() -> None:
    """Remove the remains of a killed run, and bases that are no longer used."""
    for folder in ROOTS.glob("run-*-*"):
        if not Path("/proc", folder.name.split("-")[1]).exists():
            _remove(folder)
    for old in ROOTS.glob("*.old-*"):
        try:
            used = os.open(old, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            continue  # another run was first
        try:
            fcntl.flock(used, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _done(["rm", "-rf", "--one-file-system", "--", str(old)])
        except BlockingIOError:
            continue  # in use
        finally:
            os.close(used)


@contextmanager
def _booted(root: Path, folder: Path, bind: Sequence[Path]) -> Iterator[int]:
    """Boot it; yield the number of its first process."""
    name = f"hearth-{folder.name}"
    groups = [Path(top, name) for top in _HIERARCHIES if Path(top, "cgroup.procs").exists()]
    for group in groups:
        group.mkdir(exist_ok=True)
    # Each in a control group of its own: two in one would take each other's processes for theirs.
    joins = "".join(f"echo $$ >{shlex.quote(str(group))}/cgroup.procs; " for group in groups)
    options = ["--quiet", f"--directory={root}", "--boot", "--register=no", "--keep-unit"]
    options += ["--resolv-conf=off", "--link-journal=no", "--timezone=off", f"--machine={name}"]
    # As on a real machine: whether the clock is right may be asked; it still cannot be set.
    options += ["--system-call-filter=adjtimex clock_adjtime"]
    options += [f"--bind-ro={path}" for path in bind]
    log = folder / "console"
    with log.open("wb") as console:
        process = subprocess.Popen(
            ["sh", "-c", f'{joins}exec systemd-nspawn "$@"', "sh", *options],
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            yield _leader(process, log)
        finally:
            _power_off(process)
            for group in groups:
                _remove_group(group)


def _leader(process: subprocess.Popen[bytes], log: Path) -> int:
    """Return the first process of what is being booted, once systemd reports that it is up."""
    deadline, state, leader = time.monotonic() + _BOOT_S, "", 0
    while time.monotonic() < deadline and process.poll() is None:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        if children:
            leader = int(children[0])
            enter = ["nsenter", "-t", str(leader), *"-m -p -u -i -n -C".split()]
            asked = subprocess.run(
                [*enter, "systemctl", "is-system-running"], capture_output=True, text=True
            )
            state = asked.stdout.strip()
            if state in ("running", "degraded"):
                return leader
        time.sleep(0.1)
    words = log.read_text(errors="replace")[-2000:]
    raise MachineError(f"it did not come up ({state or 'no systemd'}): {words}")


def _power_off(process: subprocess.Popen[bytes]) -> None:
    """Power it off, forcibly if it does not obey."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _remove_group(group: Path) -> None:
    """Remove a control group and everything below it that is not in use."""
    for folder, _, _ in os.walk(group, topdown=False):
        with contextlib.suppress(OSError):
            Path(folder).rmdir()


def main(words: Sequence[str]) -> int:
    """Boot a machine and run a command in it."""
    release = words[0] if words else RELEASES[0]
    with machine(release) as debian:
        command = [*debian._enter(), *_environment(None), *(words[1:] or ["bash"])]
        return subprocess.run(command).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
