"""The turn machine: everything a person notices in a conversation, as pure functions.

Start reading at `machine`: a state (`state`) and an event (`events`) give the next state and the
effects to carry out (`effects`). `voice` holds the rules for Hearth's voice, `microphone` those for
the microphone.
"""
