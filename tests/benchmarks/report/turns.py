"""Whole turns beside pipecat-ai with Gemini Live: delays, losses, and the cost of waiting."""

import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from audio.frames import SAMPLE_RATE
from audio.microphone import BLOCK_MS
from audio.sound_files import write_wav
from tests.benchmarks import cut_offs, lost_start, weighing
from tests.benchmarks._household import ROOM_DBFS
from tests.benchmarks.figures import how_many, turns_wanted
from tests.benchmarks.installed import hearth_mb
from tests.benchmarks.noises import at_level, pink
from tests.benchmarks.peers.environment import PeerMissing, python_of
from tests.benchmarks.peers.pipecat import ENVIRONMENT, NAME, installed_mb, pipecat
from tests.benchmarks.report.line import Part
from tests.benchmarks.report.turn_lines import Found, Rows, lines, tables
from tests.benchmarks.service import GeminiProcess
from tests.benchmarks.utterances import utterances
from tests.benchmarks.weighing import OURS, THEIRS
from tests.benchmarks.whole_turns import (
    LOCAL_VOICE,
    THINK_S,
    Ours,
    Said,
    Theirs,
    our_side,
    recordings,
    script,
)
from tests.devices.pulse import sound_server

_ROOM_S = 30.0  # until the noise of the room begins again
_SETTLE_S = 3.0

_TEXT = (
    '**Hearth** is configured as in `hearth run`, with the demo home. It hears "okay nabu" '
    "and the command in one breath. **The peer** is {name}, configured as in its Gemini Live "
    "example with local turn detection: `GeminiLiveLLMService` with the service's own turn "
    "detection off, `SileroVADAnalyzer()` (`stop_secs` 0.2), Smart Turn v3.2, a transport "
    "that reads audio in frames of 20 ms in real time, and one tool that returns immediately. "
    "It has no wake word and hears only the command. Hearth gets its audio in blocks of "
    "{block} ms, as from its microphone. Both use the default model and TLS over the loopback "
    "interface to the same simulated Gemini in a separate process. It thinks for {think:.0f} "
    "ms before it speaks, and answers immediately after a tool's result. {speakers} people "
    'say "turn on the office lights" in a silent room ({room:.0f} dBFS). The rows are '
    "measured in alternation, {turns} times without a tool, {calls} with one, and {local} "
    "with a local voice.  Times are from the last voiced sample (the end of the last 20 ms, "
    "every 5 ms, within 24 dB of the loudest) to the first audible sample of the answer (1 % "
    "of full scale), when the loudspeaker gets it. The service's thinking time is subtracted. "
    "Turns that were cut off have no time.  Hearth ends a turn by its words, and the command "
    "above is one that it knows. The second table shows how often either program cuts off "
    "other sentences: synthetic utterances in a quiet room, some with a pause before a word "
    "that must follow. Hearth is measured in audio time plus the recogniser's own time, and "
    "the peer in real time, {streams} utterances at once, without a model. If Smart Turn "
    "considers a sentence unfinished, it waits for 3 s of silence.  **Lost start** is the "
    "beginning of the command's speech that is missing in the audio at the service. With an "
    "open session, the connection already exists. Otherwise, Hearth connects when the wake "
    "word's score rises. The peer starts its microphone and its connection at the same time, "
    "as its bots do, 0.1 s before the first voiced sample, so its figure includes the time "
    "that its voice detector needs at the start of a stream. The service accepts the set-up "
    "after the given number of seconds.  **Idle** compares all of `hearth run` in a simulated "
    "home (a sound server's microphone, wake word, Home Assistant's websocket, MCP, HTTP, "
    "journal, voice) with the peer's process, which reads its microphone from a file and has "
    "no wake word, house or voice of its own. CPU time is the kernel's figure for all threads "
    "and child processes, over the same seconds. Memory is RSS, which counts every page in "
    "full. The table also contains PSS, which divides the pages that Hearth shares with the "
    "simulated house. {missing}"
)


def part() -> Part:
    """Measure for seven minutes; with TURNS=100 (turns per row) for forty, with LONG=1 for hours.

    Without the peer ours alone.
    """
    python, missing = None, ""
    try:
        python = python_of(ENVIRONMENT, print)
    except PeerMissing as error:
        missing = f"\nThe peer is missing here: {error}.\n"
    with tempfile.TemporaryDirectory() as name, sound_server() as sound:
        folder = Path(name)
        found = asyncio.run(_measure(folder, sound, python))
    turns, calls, local = _counts()
    text = _TEXT.format(
        name=NAME,
        think=THINK_S * 1000,
        block=BLOCK_MS,
        speakers=found.speakers,
        room=ROOM_DBFS,
        turns=turns,
        calls=calls,
        local=local,
        streams=cut_offs.STREAMS,
        missing=missing,
    )
    return Part("Whole turns", tuple(lines(found)), tuple(tables(found)), text, found.versions)


async def _measure(folder: Path, sound: Mapping[str, str], python: Path | None) -> Found:
    said, room = recordings(folder), folder / "quiet-room.wav"
    write_wav(room, at_level(pink(_ROOM_S, 5), ROOM_DBFS), SAMPLE_RATE)
    print("what is cut off")
    takes = cut_offs.takes_of(utterances()[:: how_many(10, 1)])
    delays = {OURS: await asyncio.to_thread(cut_offs.ours, takes)}
    installed = {OURS: hearth_mb()}
    versions: dict[str, str] = {}
    if python is not None:
        installed[THEIRS] = installed_mb(python)
        with GeminiProcess(script(0)) as service:
            async with pipecat(python, service.address, room) as peer:
                versions = dict(peer.versions)
                delays[THEIRS] = await cut_offs.theirs(peer, folder, takes)
    print("whole turns")
    rows = await _whole(folder / "warm", room, said, python)
    print("lost starts")
    few = said[: how_many(2, 10)]
    cold = await lost_start.cold(folder / "cold", room, few, python)
    print("what waiting costs")
    home = folder / "home"
    home.mkdir()
    weights = await weighing.weigh(home, room, sound, said[0], python)
    return Found(rows, cold, delays, weights, installed, len(said), versions)


async def _whole(folder: Path, room: Path, said: Sequence[Said], python: Path | None) -> Rows:
    """Return all rows, measured in rotation, one turn of each at a time."""
    rows: Rows = {}
    async with AsyncExitStack() as stack:
        service = stack.enter_context(GeminiProcess(script(0)))
        ours = await stack.enter_async_context(our_side(folder, service))
        sides: dict[str, Ours | Theirs] = dict(ours)
        if python is not None:
            peer = await stack.enter_async_context(pipecat(python, service.address, room))
            await peer.open()
            sides[THEIRS] = Theirs(peer, service)
            await asyncio.sleep(_SETTLE_S)
        plain, with_call, local = _counts()
        for number in range(-1, max(plain, with_call, local)):  # the first of each warms up
            one = said[number % len(said)]
            for calls in (0, 1):
                service.respond(script(calls))
                for name, side in sides.items():
                    most = with_call if calls else plain
                    if number >= (min(most, local) if name == LOCAL_VOICE else most):
                        continue
                    turn = await side.turn(one.theirs if name == THEIRS else one.ours)
                    if number >= 0:
                        rows.setdefault((name, calls), []).append(turn)
        if python is not None:
            await peer.close()
    return rows


def _counts() -> tuple[int, int, int]:
    """Return the turns per row without a tool, with one, and of either with a local voice."""
    if wanted := turns_wanted():
        return wanted, wanted, how_many(6, 200)
    return how_many(12, 200), how_many(6, 200), how_many(6, 200)
