"""Sound devices for conversations: setup, echo cancellation, muting and recordings.

`devices` opens the microphone, loudspeaker, voices and wake words that are named in the settings.
`echo_plan` and `echo_watch` decide how echo is cancelled, and `echo_measurement` measures it.
`mute` mutes the microphone, `media` lowers media players during a conversation, and `recordings`
saves audio for troubleshooting if the settings allow it.
"""
