"""Tests of docs/automations.md: each automation is pasted into a real house and does its title.

Once with a broker and once without, if it is meant for both.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from assistant.demo.scenes import SpokenCommand, make_clip
from assistant.tools.house.intents import TRIGGER
from audio.sound_files import read_wav
from tests.home_assistant.admin import Admin
from tests.home_assistant.automations import automation
from tests.home_assistant.conftest import Address, Broker, real_only
from tests.home_assistant.open_box import TOKEN, forget, greets, mqtt_of, open_box, settings_of
from tests.home_assistant.page import Block, Way, blocks
from tests.home_assistant.page_rows import HEARD, ROWS, Stage
from tests.ports import free_port
from tests.simulators.wyoming_stt import WyomingStt

PAGE = Path(__file__).parents[2] / "docs/automations.md"
WRITTEN_PORT = "8765"  # of the page's addresses; the test's box takes one that is free


def automations(way: Way) -> list[Block]:
    return [one for one in blocks(PAGE) if one.is_automation and way in one.ways]


def of_kind(key: str) -> list[Block]:
    return [one for one in blocks(PAGE) if not one.is_automation and key in one.content]


def test_every_title_has_a_row_and_every_row_a_title() -> None:
    titles = {one.title for way in ("mqtt", "plain") for one in automations(way)}
    assert titles == ROWS.keys()
    known = [*automations("mqtt"), *automations("plain"), *of_kind("entities")]
    known += of_kind("rest_command")
    assert [one for one in blocks(PAGE) if one not in known] == []


@asynccontextmanager
async def configured(admin: Admin, port: int) -> AsyncIterator[None]:
    """Put the page's lines for configuration.yaml into Home Assistant's."""
    config = Path(os.environ["HA_INSTANCE"]).with_name("config")
    secrets, package = config / "secrets.yaml", config / "packages/page.yaml"
    (block,) = of_kind("rest_command")
    secrets.write_text(f"hearth_authorization: Bearer {TOKEN}\n")
    package.write_text(block.text.replace(WRITTEN_PORT, str(port)))
    try:
        await admin.call("rest_command.reload")
        yield
    finally:
        secrets.unlink()
        package.unlink()
        await admin.call("rest_command.reload")


@asynccontextmanager
async def stage(
    house: Address, admin: Admin, folder: Path, broker: Broker | None = None
) -> AsyncIterator[Stage]:
    """Yield the box of the page, in a house with or without a broker that it knows."""
    port = free_port()
    clip = read_wav(make_clip(SpokenCommand("spoken", HEARD, "rms"), folder))
    async with WyomingStt(lambda _: box.room.words, "en") as recogniser:
        settings = settings_of(
            house,
            folder,
            brain={"order": ["home-assistant", "offline"]},
            offline={"recognizer": f"tcp://127.0.0.1:{recogniser.port}"},
            policy={"rules": [{"tool": TRIGGER, "decide": "allow"}]},
            privacy={"share_heard": True},
            http={"port": port, "token": TOKEN},
            mqtt=mqtt_of(broker) if broker else {},
        )
        try:
            async with open_box(settings, folder) as box, configured(admin, port):
                await greets(admin, box)
                yield Stage(admin, box, clip, broker)
        finally:
            await forget(admin, settings)


async def play(on: Stage, block: Block) -> None:
    """Paste it, trigger it, and check its effect."""
    row = ROWS[block.title]
    await row.prepare(on)
    async with automation(on.admin, block.content) as entity_id:
        on.automation = entity_id
        await row.sets_off(on)
        await row.seen(on)
    assert on.box.room.waits_to_answer == 0, "nobody asked"


async def play_all(on: Stage, way: Way, subtests: pytest.Subtests) -> None:
    for block in automations(way):
        with subtests.test(block.title):
            try:
                await play(on, block)
            finally:
                on.box.room.forget()
    shown = await on.admin.states()
    for card in of_kind("entities"):
        for row in card.content["entities"]:
            assert (row["entity"] if isinstance(row, dict) else row) in shown


@real_only
@pytest.mark.timeout(300)
@pytest.mark.since(2026, 11)
async def test_without_a_broker(
    house: Address, admin: Admin, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    async with stage(house, admin, tmp_path) as on:
        await play_all(on, "plain", subtests)


@real_only
@pytest.mark.timeout(300)
@pytest.mark.since(2026, 11)
async def test_with_a_broker(
    house: Address, admin: Admin, broker: Broker, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    async with stage(house, admin, tmp_path, broker) as on:
        await play_all(on, "mqtt", subtests)
