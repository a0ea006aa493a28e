"""The rules of a conversation, as pure functions.

Start with `machine`: it maps a state (see `state`) and an event (see `events`) to the next state
and the effects to carry out (see `effects`). `voice` has the rules for Hearth's speech and tones,
and `microphone` has those for the microphone.
"""
