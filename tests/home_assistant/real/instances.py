"""Start, stop and delete instances of Home Assistant."""

import asyncio
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import httpx

from tests.home_assistant.admin import Admin
from tests.home_assistant.line import Failed
from tests.home_assistant.real import process, provision
from tests.home_assistant.real.households import files, household
from tests.home_assistant.real.install import Installed, broker, environment, install
from tests.home_assistant.real.places import HOST, Instance, Places, Refused, free_port, is_free

_UP_LIMIT_S = 120.0
_STEP_S = 0.1

Say = Callable[[str], None]


async def start(places: Places, wanted: Instance, say: Say, *, mqtt: bool = False) -> Instance:
    """Start it as `wanted` (port 0: any), after installation and set-up if needed.

    Raises Refused with a sentence.
    """
    installed = install(places, wanted.version, say)
    instance = recorded(places, wanted, mqtt)
    folder = places.folder(instance.name)
    if not instance.admin_token:  # new, or its set-up broke off: from the beginning
        stop(places, instance.name, say)
        shutil.rmtree(folder / "config", ignore_errors=True)
    if instance.mqtt_port:
        start_broker(places, instance)
    if process.running(folder / "pid") is None:
        boot(places, instance, installed)
    await _up(instance, folder / "pid")
    say(f"{instance.name} answers at {instance.url}")
    try:
        return await _set_up(places, instance, say)
    except (Failed, httpx.HTTPError) as error:
        words = str(error).partition("\n")[0]
        raise Refused(
            f"{instance.name} could not be set up ({words}); its words are in {instance.log}"
        ) from error


def recorded(places: Places, wanted: Instance, mqtt: bool) -> Instance:
    """Return its record, or a new one with an unused port."""
    with places.alone():
        kept = places.load(wanted.name)
        others = [other for name in places.names() if (other := places.load(name))]
        taken = {port for other in others for port in (other.port, other.mqtt_port) if port}
        if kept is not None:
            asked = (wanted.house, wanted.version, wanted.port or kept.port)
            if (kept.house, kept.version, kept.port) != asked:
                raise Refused(
                    f"{kept.name} is the {kept.house} house of {kept.version} on port {kept.port}; "
                    f"reset it first, or take another name"
                )
            instance = kept
        else:
            if wanted.port in taken:
                raise Refused(f"another house has port {wanted.port}; leave --port out")
            port = wanted.port or free_port(taken, places.root)
            log = places.folder(wanted.name) / "home-assistant.out"
            instance = replace(wanted, port=port, log=str(log))
            taken.add(port)
        if mqtt and not instance.mqtt_port:
            instance = replace(instance, mqtt_port=free_port(taken, places.root))
        places.save(instance)
    return instance


def boot(places: Places, instance: Instance, installed: Installed) -> None:
    """Start the process, which does not answer yet."""
    if not is_free(instance.port):
        raise Refused(f"something else already listens on {HOST}:{instance.port}")
    folder = places.folder(instance.name)
    config = folder / "config"
    if not (config / "configuration.yaml").exists():
        for name, text in files(household(instance.house), instance.version, instance.port).items():
            path = config / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    (config / "www").mkdir(exist_ok=True)  # it is served where it is there when all begins
    command = installed.command(
        f"{installed.venv}/bin/hass", "-c", installed.config(config), folder=config
    )
    process.launch(command, environment(), Path(instance.log), folder / "pid")


async def _up(instance: Instance, pid_file: Path) -> None:
    """Wait until it answers at all."""
    deadline = time.monotonic() + _UP_LIMIT_S
    async with httpx.AsyncClient(timeout=5, trust_env=False) as client:
        while process.running(pid_file) is not None and time.monotonic() < deadline:
            try:
                if (await client.get(f"{instance.url}/api/")).status_code == 401:
                    return
            except httpx.TransportError:
                pass  # not listening yet
            await asyncio.sleep(_STEP_S)
    raise Refused(
        f"Home Assistant did not come up ({_last_words(Path(instance.log))}); "
        f"its words are in {instance.log}"
    )


def _last_words(log: Path) -> str:
    words = log.read_text(errors="replace").strip().splitlines()
    return words[-1] if words else "it said nothing"


async def _set_up(places: Places, instance: Instance, say: Say) -> Instance:
    """Set up users, rooms and names at the first start; later only check that all is loaded."""
    house = household(instance.house)
    if not instance.admin_token:
        token = await provision.first_user(instance.url, house.language)
        fresh = replace(instance, admin_token=token)
        async with Admin(fresh.url, token) as admin:
            await provision.started(admin)
            await provision.furnish(admin, house, fresh.mqtt_port, say)
            _, token = await provision.person(admin)
            fresh = replace(fresh, token=token)
        places.save(fresh)
        say(f"{instance.name}: rooms, names and users of the {instance.house} house are set up")
        return fresh
    async with Admin(instance.url, instance.admin_token) as admin:
        await provision.started(admin)
        if instance.mqtt_port:
            await provision.connect_broker(admin, instance.mqtt_port)
    return instance


def start_broker(places: Places, instance: Instance) -> None:
    """Start its broker if needed.

    It keeps sessions and waiting messages, also when it is killed: changes are written within a
    moment.
    """
    folder = places.folder(instance.name)
    if process.running(folder / "broker.pid") is not None:
        return
    installed = broker(places)
    settings = folder / "broker"
    settings.mkdir(exist_ok=True)
    seen = installed.config(settings)
    lines = (
        f"listener {instance.mqtt_port} {HOST}",
        "allow_anonymous true",
        "user root",  # else it becomes one who may not write here
        "persistence true",
        f"persistence_location {seen}",
        "autosave_on_changes true",
        "autosave_interval 1",
    )
    (settings / "mosquitto.conf").write_text("\n".join(lines) + "\n")
    command = installed.command(
        "/usr/sbin/mosquitto", "-c", f"{seen}/mosquitto.conf", folder=settings
    )
    process.launch(command, environment(), folder / "broker.out", folder / "broker.pid")


def kill_broker(places: Places, instance: Instance) -> None:
    """Kill its broker without notice, as a power cut does."""
    process.kill(places.folder(instance.name) / "broker.pid")


def stop(places: Places, name: str, say: Say, *, broker_too: bool = True) -> None:
    """Stop it and its broker, if they run."""
    folder = places.folder(name)
    if process.stop(folder / "pid"):
        say(f"{name} did not end by itself and was killed")
    if broker_too:
        process.stop(folder / "broker.pid")


def reset(places: Places, name: str, say: Say) -> None:
    """Stop it and delete all of it."""
    stop(places, name, say)
    shutil.rmtree(places.folder(name), ignore_errors=True)


def surroundings(places: Places, instance: Instance) -> dict[str, str]:
    """Return the environment in which tests find the instance."""
    return {
        "HA_URL": instance.url,
        "HA_TOKEN": instance.token,
        "HA_ADMIN_TOKEN": instance.admin_token,
        "HA_HOUSE": instance.house,
        "HA_INSTANCE": os.fspath(places.record(instance.name)),
        **({"HA_MQTT_PORT": str(instance.mqtt_port)} if instance.mqtt_port else {}),
    }
