"""The turn machine: everything a person notices in a conversation, as pure functions.

Begin with `machine`: a state (`state`) and an event (`events`) give the next state and the effects
to carry out (`effects`). `voice` and `microphone` hold the rules of each.
"""
