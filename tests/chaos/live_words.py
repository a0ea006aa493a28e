"""Texts, actions and notes in the turns in which Gemini Live breaks."""

from tests.pipeline.gemini_rig import LIVE, OFFICE, OFFICE_ON, TURN_ON, Scene, ended, said
from tests.simulators.script import Call, Done, Hear, OnceTurn, Say, Step, Turn

# The turn: somebody asks for the office's lights, and it is served.
HEARD = Hear("turn on the office lights", language="en-GB")
SAID = "The office lights are on."
ON = Call(TURN_ON, OFFICE, answer={"status": "done"})
CALLED = Call(TURN_ON, OFFICE, wait=False)  # its result is not awaited
LOOK = Call("GetLiveContext", {"area": "office"})
SERVED: list[Step] = [HEARD, ON, Say(SAID), Done()]
ONCE_SERVED = (OnceTurn([ON, Say(SAID), Done()]),)

# The next one, which is typed.
NEXT_ASKED, NEXT_SAID = "is it on?", "Yes, it is."
NEXT_TURN = Turn("text", [Say(NEXT_SAID), Done()])

# Spoken texts after a break.
LOST = f"{OFFICE_ON} Then I lost the connection."
BY_ITSELF = "Turned on the lights in the office."

# Notes for the next turn's model.
IS_DONE = OFFICE_ON.partition(" at ")[0]
HAD_STARTED = "cut off, but it had started"

# Cells of the table of faults.
ANSWER = f"the answer: “{SAID}”"
AGAIN = "the turn with the same audio on a new connection"
NEXT = "the turn with the next brain and the same audio"
NEVER = "nothing; a change had started, so no brain gets this turn again"
WHOLE = "the whole sentence; the lights are switched only once"
TOLD = "the changes, which the model learns about in the next turn"


async def assert_told(on: Scene, later: str) -> None:
    """Check that the next turn is served by the same brain, and that its model gets the note."""
    turn = await on.ask(NEXT_ASKED)
    assert (ended(turn), said(turn)) == ((LIVE, None), NEXT_SAID)
    told, _, asked = on.service.turns[-1].text.rpartition("\n")
    assert asked == NEXT_ASKED
    assert later in told
