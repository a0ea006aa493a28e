"""What is said, done and told in the turns in which Gemini Live breaks."""

from tests.pipeline.gemini_rig import OFFICE, OFFICE_ON, TURN_ON
from tests.simulators.script import Call, Done, Hear, OnceTurn, Say, Step

# The turn: somebody asks for the office's lights, and it is served.
HEARD = Hear("turn on the office lights", language="en-GB")
SAID = "The office lights are on."
ON = Call(TURN_ON, OFFICE, answer={"status": "done"})
CALLED = Call(TURN_ON, OFFICE, wait=False)  # nobody waits for its result
LOOK = Call("GetLiveContext", {"area": "office"})
SERVED: list[Step] = [HEARD, ON, Say(SAID), Done()]
ONCE_SERVED = (OnceTurn([ON, Say(SAID), Done()]),)

# What is spoken where it broke.
LOST = f"{OFFICE_ON} Then I lost the connection."
BY_ITSELF = "Turned on the lights in the office."

# Cells of the table of faults.
ANSWER = f"the answer: “{SAID}”"
AGAIN = "the turn, once more, on a connection of its own and with the same sound"
NEXT = "the turn, by the next brain, with the same sound"
NEVER = "nothing: a deed was under way, and no brain is asked again in this turn"
WHOLE = "the whole sentence; the lights are switched once"
TOLD = "what was done: the next turn's model is told of it"
