"""What is known of the moment in which a call is asked for, beside the words."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Situation:
    """Circumstances of one turn that the guards look at."""

    near_own_speech: bool = False  # the request began within 2 s after our own speech had ended
    searched: bool = False  # the model's answer rests on a web search (search grounding)


CALM = Situation()
