"""The box's sound devices around a conversation.

`devices` chooses the microphone, the speaker, the voice and the wake words, `echo_plan` and
`echo_watch` how echo is cancelled, `mute` silences the microphone, `media` lowers what plays,
`recordings` keeps what was heard where that is wanted.
"""
