"""What a cloud model is told before a turn: who it is, what it may do, what house this is."""
