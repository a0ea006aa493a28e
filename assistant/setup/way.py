"""How setup goes about it, by what is there and what was said. Pure."""

from enum import Enum


class Way(Enum):
    """One of four."""

    TALK = "talk"  # ask whatever the flags do not answer
    CHANGE = "change"  # put the flags' answers into the configuration that is there
    ANEW = "anew"  # a configuration from the flags alone
    REFUSE = "refuse"  # nothing was said, and there is a configuration already


def way_of(*, exists: bool, given: bool, person: bool) -> Way:
    """`exists`: a configuration that is to stay; `given`: some flag answers something; `person`:
    somebody is there to ask."""
    if exists and given:
        return Way.CHANGE
    if person:
        return Way.TALK
    return Way.REFUSE if exists else Way.ANEW
