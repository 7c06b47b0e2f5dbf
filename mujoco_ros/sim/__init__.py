"""The one owner of the live MjModel and MjData: stepping, pacing, sensing."""
