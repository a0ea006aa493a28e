"""Demo of Hearth without sound devices: its scenes, and a player that writes WAV files."""
