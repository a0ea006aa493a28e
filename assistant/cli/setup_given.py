"""Answers that came by flags alone: tried before anything is written."""

import asyncio
from dataclasses import replace

from assistant.cli.command import Failed
from assistant.cli.paper import Terminal
from assistant.cli.setup_means import RealMeans
from assistant.config.schema import Settings
from assistant.models.manifest import read_manifest
from assistant.setup.answers import Answers
from assistant.setup.cloud import four_lines
from assistant.setup.draft import draft
from assistant.setup.sound_check import lacking
from assistant.setup.typed import Check
from assistant.sound.devices import wake_engine
from audio.errors import AudioError
from integrations.errors import IntegrationError, SignInAgain
from integrations.gemini.key import doubtful, impossible


async def settle_given(
    answers: Answers, present: Settings, check: Check, console: Terminal
) -> Answers:
    """The answers, with voices for new languages. Raises IntegrationError, ConfigError, Failed."""
    settings = draft(present, answers)
    if answers.of_the_house:
        home = settings.home_assistant
        instance = await check(
            home.url, home.token.get_secret_value(), home.verify_tls, home.ca_file
        )
        told = "[green]Home Assistant {version}[/] answers ({name})."
        console.tell(told, version=instance.version, name=instance.name, fold=True)
    if answers.wake_word is not None:
        await _try_word(settings)
    if answers.languages is not None and settings.voice.engine != "espeak":
        known = await asyncio.to_thread(read_manifest)
        voices = lacking(settings, answers.languages, known.values())
        answers = replace(answers, voices=voices or None)
    if answers.accept_cloud:
        console.print("You say yes to this:")
        for line in four_lines(settings):
            console.print(f"- {line}", soft_wrap=True)
    if answers.gemini_key is not None:
        await _try_key(settings, RealMeans(console, check, True, ""), console)
    return answers


async def _try_word(settings: Settings) -> None:
    """Raise Failed for a word that nothing here listens for."""
    try:
        engine = await asyncio.to_thread(wake_engine, settings)
    except AudioError as error:
        raise Failed(f"Nothing was written: {error}", 2) from error
    engine.close()


async def _try_key(settings: Settings, means: RealMeans, console: Terminal) -> None:
    """By its form; by asking Google only where that was said yes to."""
    key = settings.gemini.api_key.get_secret_value()
    problem = impossible(key)
    if problem:
        raise Failed(f"Nothing was written: {problem}", 2)
    if doubtful(key):
        console.print(doubtful(key), style="yellow", soft_wrap=True)
    if not settings.privacy.accept_cloud:
        console.print(
            "The key is kept, and not used before hearth setup --accept-cloud.", soft_wrap=True
        )
        return
    try:
        await means.try_key(settings)
    except SignInAgain:
        raise
    except IntegrationError as error:
        console.print(f"The key was not tried: {error}", style="yellow")
    else:
        told = "[green]Google takes the key[/]; {model} is there."
        console.tell(told, model=settings.gemini.model, fold=True)
