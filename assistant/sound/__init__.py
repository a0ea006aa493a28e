"""Sound devices for conversations: setup, echo cancellation, muting and recordings. Start with
`devices`, which opens the microphone, the loudspeaker, the voices and the wake words that the
settings name."""
