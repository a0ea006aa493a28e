"""The box's sound devices around a conversation.

`input` and `output` choose the microphone and the speaker, `echo_plan` and `echo_watch` how echo is
cancelled, `mute` silences the microphone, `media` lowers what plays, `recordings` keeps what was
heard where that is wanted, `voices` and `wake_words` name what is installed.
"""
