"""Tests that docs/architecture.md names only functions and modules that exist."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[4]
MOST = 55  # modules that one spoken turn may pass


def walk() -> list[tuple[list[str], list[str]]]:
    """Return the functions and the modules that each step of the described turn names."""
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    section = page.split("## One spoken turn")[1].split("\n## ")[0]
    rows = re.findall(r"^\|[^|]*\|([^|]*)\|([^|]*)\|$", section, re.MULTILINE)[2:]
    return [(re.findall(r"`(.+?)`", names), re.findall(r"`(.+?)`", paths)) for names, paths in rows]


def defined(path: str) -> set[str]:
    """Return the names of a module's functions and classes, and `Class.method`."""
    names: set[str] = set()
    for node in ast.parse((ROOT / path).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            methods = (
                m for m in node.body if isinstance(m, ast.FunctionDef | ast.AsyncFunctionDef)
            )
            names |= {f"{node.name}.{method.name}" for method in methods}
    return names


def test_each_step_names_what_its_modules_define() -> None:
    steps = walk()
    assert len(steps) > 20
    for names, paths in steps:
        there = {name for path in paths for name in defined(path)}
        assert set(names) <= there, (names, paths)


def test_a_spoken_turn_passes_few_modules_and_returns_once() -> None:
    paths = [path for _, modules in walk() for path in modules]
    assert len(set(paths)) <= MOST
    packages: list[str] = []
    for path in paths:
        package = "audio" if path.startswith("audio/") else "/".join(path.split("/")[:2])
        if packages[-1:] != [package]:
            packages.append(package)
    assert all(packages.count(package) <= 3 for package in set(packages)), packages
