"""The sound devices around a conversation.

`devices` chooses the microphone, the speaker, the voice and the wake words; `echo_plan` and
`echo_watch` decide how echo is cancelled; `mute` silences the microphone; `media` lowers media
players; `recordings` keeps audio if the settings want that.
"""
