"""Runs the checks of `hearth doctor`. The machine and the sound devices are checked first, because
audio stutters on a busy machine. The other groups of checks run concurrently."""

import asyncio
from pathlib import Path

from assistant.config.schema import Settings
from assistant.doctor import box, daemon, service, sound, speech
from assistant.doctor.daemon import May, Scene, open_scene
from assistant.doctor.finding import Finding, Group, Watch, examine, unwatched
from assistant.doctor.gemini import examine_gemini
from assistant.doctor.house import BROKER_CHECKS, examine_house
from assistant.doctor.local import examine_local
from assistant.doctor.service import by_the_daemon

_NOTHING = May()


async def examine_all(
    settings: Settings, may: May = _NOTHING, watch: Watch = unwatched
) -> list[Finding]:
    groups = await examine_groups(settings, may, watch)
    return [finding for group in groups for finding in group.findings]


async def examine_groups(
    settings: Settings,
    may: May = _NOTHING,
    watch: Watch = unwatched,
    config: Path | None = None,
) -> list[Group]:
    """Return all findings in groups for display. `may` permits checks that users could notice.
    `watch` is called with the name of each check when it starts. `config` is the configuration
    file, or None for the default."""
    watch("running")
    scene = await open_scene(settings, may, config)
    machine = await examine(box.CHECKS, scene, watch)
    devices = await examine(sound.CHECKS, scene, watch)
    async with asyncio.TaskGroup() as tasks:
        ears = tasks.create_task(examine(speech.CHECKS, scene, watch))
        outside = tasks.create_task(_outside(scene, watch))
        faces = tasks.create_task(examine(service.INTERFACE_CHECKS, scene, watch))
        kept_up = tasks.create_task(examine(service.SERVICE_CHECKS, scene, watch))
        runs = tasks.create_task(examine(daemon.RUNNING_CHECKS, scene.daemon, watch))
    return [
        Group("This machine", machine),
        Group("Sound", [*devices, *ears.result()]),
        *outside.result(),
        Group("Hearth itself", [*runs.result(), *kept_up.result(), *faces.result()]),
    ]


async def _outside(scene: Scene, watch: Watch) -> list[Group]:
    theirs = await by_the_daemon(scene)

    async def house() -> list[Finding]:
        return theirs.get("house") or await examine_house(scene.settings, watch)

    async def cloud() -> list[Finding]:
        return theirs.get("gemini") or await examine_gemini(scene, watch)

    async def local() -> list[Finding]:
        return theirs.get("local") or await examine_local(scene, watch)

    async def mqtt() -> list[Finding]:
        return theirs.get("broker") or await examine(BROKER_CHECKS, scene, watch)

    async with asyncio.TaskGroup() as tasks:
        looks = (house, mqtt, cloud, local)
        at_home, brokers, far, near = (tasks.create_task(look()) for look in looks)
    groups = [
        Group("The house", [*at_home.result(), *brokers.result()]),
        Group("Gemini", far.result()),
        Group("Local model", near.result()),
    ]
    return [group for group in groups if group.findings]
