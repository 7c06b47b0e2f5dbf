"""Initial states, snapshots, keyframes, and the transfer of state between models."""
