"""Tests that links between Markdown pages work, and that every page of `docs` can be found."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from assistant.speech.catalogue import Catalogue

ROOT = Path(__file__).parents[2]
INDEX = ROOT / "docs" / "README.md"
FOLDERS = ("docs", "deploy", "models", "tests", ".github")
PAGES = sorted(
    (*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md")))
)
_FENCE = re.compile(r"^ *```.*?^ *```", re.DOTALL | re.MULTILINE)
_TARGET = re.compile(r"\]\(<?([^)>\s]+)>?(?:\s+\"[^\"]*\")?\)|<img[^>]*\ssrc=\"([^\"]+)\"")
_HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)


def _targets(page: Path) -> Iterator[tuple[Path, str]]:
    """Yield the file and the fragment of each relative link of a page."""
    for found in _TARGET.finditer(_FENCE.sub("", page.read_text("utf-8"))):
        target = found[1] or found[2]
        if re.match(r"[a-z]+:", target):
            continue
        path, _, fragment = target.partition("#")
        yield (page.parent / path).resolve() if path else page.resolve(), fragment


def _anchors(page: Path) -> set[str]:
    """Return the fragments that a forge makes of a page's headings."""
    anchors: dict[str, int] = {}
    for heading in _HEADING.findall(_FENCE.sub("", page.read_text("utf-8"))):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        again = anchors[slug] = anchors.get(slug, -1) + 1
        if again:
            anchors[f"{slug}-{again}"] = 0
    return set(anchors)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    dead = [
        f"{target.name}#{fragment}"
        for target, fragment in _targets(page)
        if not target.exists()
        or (fragment and target.suffix == ".md" and fragment not in _anchors(target))
    ]
    assert dead == []


def test_the_index_leads_to_every_page_of_docs() -> None:
    reached, waiting = set[Path](), [INDEX]
    while waiting:
        page = waiting.pop()
        if page not in reached:
            reached.add(page)
            waiting += [
                target
                for target, _ in _targets(page)
                if target.suffix == ".md" and target.is_relative_to(ROOT / "docs")
            ]
    assert sorted(set((ROOT / "docs").rglob("*.md")) - reached) == []


def test_what_hearth_says_is_quoted_as_it_says_it() -> None:
    """`...` stands for the rest of the sentence, or for a name within it."""
    catalogue = Catalogue()
    lines = [catalogue.text(key, "en") for key in catalogue.keys("en")]
    spoken = [re.sub(r"\{[^}]*\}", "...", line) for line in lines]
    page = (ROOT / "docs" / "troubleshooting.md").read_text("utf-8")
    quotes = re.findall(r'"([A-Z][^"|]+)"', page)
    assert len(quotes) > 30
    unknown = []
    for quote in quotes:
        parts = [re.escape(part.strip()) for part in quote.split("...") if part.strip(" .")]
        pattern = re.compile(".*".join(parts))
        if not any(pattern.search(line) for line in spoken):
            unknown.append(quote)
    assert unknown == []


def test_the_readme_is_short_and_begins_with_what_a_newcomer_needs() -> None:
    lines = (ROOT / "README.md").read_text("utf-8").splitlines()
    first_screen = "\n".join(lines[:25])
    assert len(lines) <= 220
    assert "make demo" in first_screen
    assert "make test" in first_screen
    assert "not yet run on a real Raspberry Pi, nor with the real Gemini service" in first_screen


def test_links_and_headings_are_read_as_a_forge_reads_them(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        '# Yes, and `no`\n[here](other.md#part) <img width=1 src="a.png"> [out](https://x.org)\n'
        "```\n# no heading\n[no link](gone.md)\n```\n## Twice\n## Twice\n",
        "utf-8",
    )
    assert _anchors(page) == {"yes-and-no", "twice", "twice-1"}
    assert list(_targets(page)) == [(tmp_path / "other.md", "part"), (tmp_path / "a.png", "")]
