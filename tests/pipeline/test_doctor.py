"""Tests of the doctor beside a running Hearth: what it learns, and how it gets access."""

import asyncio
from pathlib import Path

from assistant.app.process import locked
from assistant.doctor.daemon import its_findings, visit
from tests.pipeline.test_faces import TOKEN, faces


async def test_it_gets_in_by_the_token_and_is_told_everything(tmp_path: Path) -> None:
    async with faces(tmp_path) as (app, _):
        with locked(app.settings.data_folder):
            found = await visit(app.settings, held=True)
    assert found is not None
    assert found.lets_us_in
    assert found.console
    assert found.health == "ok"
    assert found.level is not None
    assert not (app.settings.data_folder / "console_links.json").exists()


async def test_without_the_token_it_gets_in_by_a_link_and_leaves_nothing(tmp_path: Path) -> None:
    async with faces(tmp_path) as (app, _):
        http = app.settings.http.model_copy(update={"token": type(app.settings.http.token)("")})
        without = app.settings.model_copy(update={"http": http})
        shut = await visit(without, held=True)
        found = await visit(without, held=True, links=True)
        assert shut is not None
        assert found is not None
        theirs = await its_findings(without, found)
        folder = app.settings.data_folder
        kept = await asyncio.to_thread(lambda: [file.read_text() for file in folder.glob("*.json")])
    assert not shut.lets_us_in
    assert found.lets_us_in
    assert "home assistant" in {finding.check for finding in theirs}
    assert all(text.strip() in ("[]", "") or "sha256" not in text for text in kept)
    assert TOKEN not in "".join(kept)
