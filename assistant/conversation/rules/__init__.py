"""The turn machine: what a person notices of a conversation, as pure functions.

Begin with `machine`: a state (`state`) and an event (`events`) give the next state and what is to
be done (`effects`). `voice` and `microphone` hold the rules of either.
"""
