"""Initial states, snapshots, keyframes, playback, and the transfer of state between models."""
