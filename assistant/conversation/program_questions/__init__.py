"""Questions that programs ask people; begin with `questions`."""
