"""Tests that the installer takes only what was released, and pins other downloads."""

import hashlib
import os
import re
import runpy
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
LOCKS = ("requirements.lock", "requirements-build.lock")
_PIN = re.compile(r"^([a-z0-9-]+)==(\S+)")
audited = runpy.run_path(str(DEPLOY / "development/audited.py"))


def check(source: Path, tmp_path: Path, sha256: str = "") -> subprocess.CompletedProcess[str]:
    """Run the installer's own check of what it is to install."""
    script = f"""set -euo pipefail
        HERE={DEPLOY}
        . "$HERE/install/talk.sh"; . "$HERE/install/places.sh"; . "$HERE/install/release.sh"
        LOG={tmp_path}/log SIGNERS={tmp_path}/allowed_signers SOURCE={source} SHA256={sha256}
        check_origin"""
    env = {**os.environ, "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8"}
    words = ["bash", "-c", script]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=60, env=env)


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    file = tmp_path / "hearth_voice-0.1.0-py3-none-any.whl"
    file.write_bytes(b"a wheel")
    return file


def sum_of(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.mark.parametrize("way", ["option", "capitals", "file", "binary mode"])
def test_a_wheel_with_its_checksum_is_taken(way: str, wheel: Path, tmp_path: Path) -> None:
    given = {"option": sum_of(wheel), "capitals": sum_of(wheel).upper()}.get(way, "")
    if not given:
        sign = "*" if way == "binary mode" else " "
        (tmp_path / "SHA256SUMS").write_text(
            f"{'0' * 64}  another.whl\n{sum_of(wheel)} {sign}{wheel.name}\n"
        )
    done = check(wheel, tmp_path, given)
    assert done.returncode == 0, done.stderr
    assert "matches its checksum" in done.stderr + done.stdout


@pytest.mark.parametrize(
    ("sums", "given", "told"),
    [
        (None, "", "has no checksum"),
        ("0" * 64 + "  another.whl\n", "", "has no checksum"),
        (None, "0" * 64, "does not match its checksum"),
        ("0" * 64 + "  hearth_voice-0.1.0-py3-none-any.whl\n", "", "does not match its checksum"),
    ],
)
def test_a_wheel_without_it_is_not(
    sums: str | None, given: str, told: str, wheel: Path, tmp_path: Path
) -> None:
    if sums is not None:
        (tmp_path / "SHA256SUMS").write_text(sums)
    done = check(wheel, tmp_path, given)
    assert done.returncode != 0
    assert told in done.stderr + done.stdout


class Checkout:
    """A repository whose releases are signed with a key of the test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "checkout"
        self.folder.mkdir()
        self.home = folder
        for name in ("author", "stranger"):
            key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
            subprocess.run(key, check=True, timeout=30)
        self.git("init", "-q")
        (self.folder / "file").write_text("one\n")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "One")

    def git(self, *arguments: str) -> None:
        settings = ["user.name=Hearth", "user.email=hearth@localhost", "gpg.format=ssh"]
        words = ["git", *(part for one in settings for part in ("-c", one)), *arguments]
        env = {"HOME": str(self.home), "PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1"}
        subprocess.run(words, cwd=self.folder, check=True, timeout=30, env=env)

    def tag(self, signer: str = "") -> None:
        key = ["-c", f"user.signingkey={self.home / signer}.pub"] if signer else []
        self.git(*key, "tag", *(["-s"] if signer else ["-a"]), "-m", "Release", "v1.0.0")

    def trust(self, signer: str) -> None:
        key = (self.home / f"{signer}.pub").read_text()
        (self.home / "allowed_signers").write_text(f"hearth@localhost {key}")


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_a_signed_release_is_taken(checkout: Checkout, tmp_path: Path) -> None:
    checkout.tag("author")
    checkout.trust("author")
    done = check(checkout.folder, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "v1.0.0 is signed" in done.stderr + done.stdout


@pytest.mark.parametrize("signer", ["stranger", ""])
def test_a_release_that_nobody_trusted_has_signed_is_not(
    signer: str, checkout: Checkout, tmp_path: Path
) -> None:
    checkout.tag(signer)
    checkout.trust("author")
    done = check(checkout.folder, tmp_path)
    assert done.returncode != 0
    assert "v1.0.0 is not signed by anybody" in done.stderr + done.stdout


def test_a_changed_file_spoils_a_signed_release(checkout: Checkout, tmp_path: Path) -> None:
    checkout.tag("author")
    checkout.trust("author")
    (checkout.folder / "file").write_text("two\n")
    done = check(checkout.folder, tmp_path)
    assert done.returncode != 0
    assert "files in this checkout have changed" in done.stderr + done.stdout


@pytest.mark.parametrize(
    ("tagged", "told"),
    [(False, "is not at a release tag"), (True, "the signature of v1.0.0 was not checked")],
)
def test_where_nothing_can_be_checked_it_says_so(
    tagged: bool, told: str, checkout: Checkout, tmp_path: Path
) -> None:
    if tagged:
        checkout.tag()
    done = check(checkout.folder, tmp_path)
    assert done.returncode == 0, done.stderr
    assert told in done.stderr + done.stdout


def test_a_repository_cannot_have_root_run_its_own_program(
    checkout: Checkout, tmp_path: Path
) -> None:
    checkout.tag("author")
    checkout.trust("author")
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    for key in ("core.fsmonitor", "gpg.program", "gpg.ssh.program"):
        checkout.git("config", key, str(trap))
    assert check(checkout.folder, tmp_path).returncode == 0
    assert not (tmp_path / "sprung").exists()


def pins(name: str) -> dict[str, list[str]]:
    """Return the versions that a lock file pins, by package."""
    found: dict[str, list[str]] = {}
    for line in (DEPLOY / name).read_text().splitlines():
        if pin := _PIN.match(line):
            found.setdefault(pin[1], []).append(pin[2])
    return found


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


@pytest.mark.parametrize("name", LOCKS)
def test_every_package_is_pinned_with_hashes(name: str) -> None:
    entries = re.split(r"\n(?=\S)", (DEPLOY / name).read_text().strip())
    packages = [one for one in entries if not one.startswith("#")]
    assert packages
    assert all(_PIN.match(one) and "--hash=sha256:" in one for one in packages)
    assert "://" not in (DEPLOY / name).read_text()  # it goes with whatever index a machine asks


def test_the_pins_are_within_what_the_project_asks_for() -> None:
    asked, extras = project()["project"], project()["project"]["optional-dependencies"]
    found = pins("requirements.lock")
    optional = [text for name, texts in extras.items() if name != "all" for text in texts]
    for text in (*asked["dependencies"], *optional):
        wanted = Requirement(text)
        versions = found.get(wanted.name.lower(), [])
        assert versions, f"{wanted.name} is not pinned: run make lock"
        assert all(wanted.specifier.contains(one) for one in versions), f"{text}: run make lock"


def test_the_tools_that_build_it_are_pinned_too() -> None:
    found = pins("requirements-build.lock")
    for text in project()["build-system"]["requires"]:
        wanted = Requirement(text)
        assert all(wanted.specifier.contains(one) for one in found[wanted.name])


@pytest.mark.parametrize("recipe", ["container/Containerfile", "addon/Dockerfile"])
def test_images_are_named_by_digest_and_take_hashes_alone(recipe: str) -> None:
    text = (DEPLOY / recipe).read_text()
    images = re.findall(r"docker\.io/\S+", text)
    assert images
    assert all(re.search(r"@sha256:[0-9a-f]{64}$", image) for image in images)
    installs = re.split(r"pip install", text.replace("\\\n", " "))[1:]
    assert installs
    assert all("--require-hashes" in one or "--no-index" in one for one in installs)


@pytest.mark.parametrize(
    ("packages", "code", "told"),
    [
        ([], 3, "not reached"),
        ([{"name": "a", "skip_reason": "x"}], 3, "not reached"),
        ([{"name": "a", "version": "1", "vulns": []}], 0, "1 of 1 packages looked up, 0 with"),
        (
            [{"name": "a", "version": "1", "vulns": []}, {"name": "b", "skip_reason": "x"}],
            1,
            "Not looked up: b",
        ),
        (
            [{"name": "a", "version": "1", "vulns": [{"id": "CVE-1", "fix_versions": ["2"]}]}],
            1,
            "a 1: CVE-1, fixed in 2",
        ),
    ],
)
def test_an_audit_that_looked_nothing_up_is_none(
    packages: list[dict[str, Any]], code: int, told: str
) -> None:
    found, lines = audited["judge"]({"dependencies": packages}, "pypi")
    assert found == code
    assert told in "\n".join(lines)
