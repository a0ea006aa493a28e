"""Make a release: version and changelog, then wheel, SBOM, checksums and tag, then the push.

    release.py prepare 0.2.0 [--home URL]
        write the version, close the changelog's section, commit
    release.py publish REMOTE [--unsigned] [--skip-tests]
        test, build into dist/VERSION, tag vVERSION, push both

`--home` is the repository's public address; it goes into the package's links. Both steps need a
clean checkout, refuse what is there already, and can be run again after a failure.
"""

import argparse
import datetime
import hashlib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path.cwd()
PYPROJECT, CHANGELOG, ADDON = "pyproject.toml", "CHANGELOG.md", "deploy/addon/config.yaml"
VERSION = re.compile(r"\d+\.\d+\.\d+")


class Refused(Exception):
    """The release cannot go on; the text says why and what to do."""


def run(*command: str | Path, **environment: str) -> str:
    """Run a command in the checkout and return what it printed. Raises Refused."""
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env=os.environ | environment, check=False
    )
    if done.returncode:
        words = (done.stderr or done.stdout).strip()
        raise Refused(f"`{' '.join(map(str, command))}` failed: {words[-2000:]}")
    return done.stdout.strip()


def need_clean() -> None:
    """Raise Refused unless everything is committed."""
    if run("git", "status", "--porcelain"):
        raise Refused("The checkout has uncommitted changes: commit or stash them first.")


def need_new(version: str) -> None:
    """Raise Refused if the version has been released."""
    if run("git", "tag", "--list", f"v{version}"):
        raise Refused(f"There is a tag v{version} already: choose the next version.")


def replace(file: str, pattern: str, text: str) -> None:
    """Replace the one match of a pattern in a file. Raises Refused unless there is exactly one."""
    path = ROOT / file
    new, count = re.subn(pattern, lambda _: text, path.read_text("utf-8"), flags=re.MULTILINE)
    if count != 1:
        raise Refused(f"{file} has {count} lines like `{pattern}`; one is expected.")
    path.write_text(new, "utf-8")


def section(version: str) -> str:
    """Return what the changelog says of a version, without its heading; "" if it has none."""
    text = (ROOT / CHANGELOG).read_text("utf-8")
    found = re.search(rf"^## \[{re.escape(version)}\].*\n((?:(?!## \[).*\n?)*)", text, re.MULTILINE)
    return found[1].strip() if found else ""


def prepare(version: str, home: str) -> None:
    """Write a version into the checkout and commit it."""
    if not VERSION.fullmatch(version):
        raise Refused(f'"{version}" is no version: write three numbers, such as 0.2.0.')
    if home and not re.fullmatch(r"https://[\w.-]+/[\w./-]+", home):
        raise Refused(f'"{home}" is no address of a repository: write https://HOST/OWNER/NAME.')
    need_clean()
    need_new(version)
    if not section("Unreleased"):
        raise Refused(f'{CHANGELOG} has nothing under "Unreleased": say what changes for users.')
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    replace(CHANGELOG, r"^## \[Unreleased\]$", f"## [Unreleased]\n\n## [{version}] - {today}")
    replace(PYPROJECT, r'^version = "[^"]*"$', f'version = "{version}"')
    replace(ADDON, r"^version: .*$", f"version: {version}")
    if home:
        write_links(home.rstrip("/"))
    run("git", "commit", "--all", "--message", f"release: set the version to {version}")


def write_links(home: str) -> None:
    """Put the links of the package into its metadata, in place of those that are there."""
    path = ROOT / PYPROJECT
    text = re.sub(r"\[project\.urls\]\n(?:.+\n)+\n", "", path.read_text("utf-8"))
    links = (
        f'[project.urls]\nHomepage = "{home}"\nDocumentation = "{home}/tree/main/docs"\n'
        f'Issues = "{home}/issues"\nChangelog = "{home}/blob/main/CHANGELOG.md"\n\n'
    )
    path.write_text(text.replace("[project.scripts]\n", links + "[project.scripts]\n", 1), "utf-8")


def publish(remote: str, *, unsigned: bool, tests: bool) -> None:
    """Test, build, tag and push the version that the checkout has."""
    need_clean()
    found = re.search(r'^version = "([^"]+)"$', (ROOT / PYPROJECT).read_text("utf-8"), re.MULTILINE)
    version = found[1] if found else ""
    need_new(version)
    notes = section(version)
    if not notes:
        raise Refused(f"{CHANGELOG} has no section for {version}: run `release.py prepare` first.")
    if not unsigned and not run("git", "config", "--default", "", "user.signingkey"):
        raise Refused(
            "git has no signing key, and the installer checks the signature of a tag: set "
            "user.signingkey, or say --unsigned."
        )
    if tests:
        run(ROOT / ".ci/run", "checks", "tests")
    folder = build(version, notes)
    tag = f"v{version}"
    run("git", "tag", "--annotate" if unsigned else "--sign", tag, "--message", f"Hearth {version}")
    try:
        run("git", "push", "--atomic", remote, "HEAD:refs/heads/main", f"refs/tags/{tag}")
    except Refused:
        run("git", "tag", "--delete", tag)  # so that it can be tried again
        raise
    files = ", ".join(sorted(file.name for file in folder.iterdir() if file.name != "NOTES.md"))
    say(f"Pushed {tag}. Attach what is in {folder.relative_to(ROOT)} to the release: {files}.")
    say("NOTES.md is the text of the release.")


def build(version: str, notes: str) -> Path:
    """Build the wheel from what is committed, list its parts, and return the folder of it all."""
    folder = ROOT / "dist" / version
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    with tempfile.TemporaryDirectory() as place:
        run("git", "clone", "--quiet", "--no-hardlinks", ROOT, place)
        # The same commit gives the same wheel, to the byte.
        moment = run("git", "log", "-1", "--format=%ct")
        pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
        wheel = (*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, place)
        run(*wheel, SOURCE_DATE_EPOCH=moment)
    run(ROOT / "deploy/development/supply.sh", "sbom", folder / "hearth.cdx.json")
    (folder / "NOTES.md").write_text(notes + "\n", "utf-8")
    sums = [
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n"
        for file in sorted(folder.iterdir())
    ]
    (folder / "SHA256SUMS").write_text("".join(sums), "utf-8")
    return folder


def say(line: str) -> None:
    sys.stderr.write(line + "\n")


def main() -> int:
    """Run one step."""
    parser = argparse.ArgumentParser(description="Make a release of Hearth.")
    steps = parser.add_subparsers(dest="step", required=True)
    first = steps.add_parser("prepare", help="write the version and the changelog, and commit")
    first.add_argument("version")
    first.add_argument("--home", default="", metavar="URL", help="the repository's public address")
    second = steps.add_parser("publish", help="test, build, tag and push")
    second.add_argument("remote")
    second.add_argument("--unsigned", action="store_true", help="make a tag without a signature")
    second.add_argument("--skip-tests", action="store_true", help="do not run .ci/run first")
    options = parser.parse_args()
    try:
        if options.step == "prepare":
            prepare(options.version, options.home)
        else:
            publish(options.remote, unsigned=options.unsigned, tests=not options.skip_tests)
    except Refused as error:
        say(f"No release: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
