"""Columns of the probe's rows: one row of int64 for each step."""

BEGUN, STEPPED, PUBLISHED, STAMP, LATE, ACTIVITY, POSITION, VELOCITY, TORQUE, FORCE, SHARED = range(
    11
)
"""Begin of the step, end of the engine's step, end of publishing, stamp [ns]; number of deadline
misses; with ``--commands`` also the activity, and what the step used: references of the first joint
of the first robot and the sum of the vertical external forces, in units of `UNIT`; and the time at
which the state was shared, if it is [ns]."""
COLUMNS = SHARED + 1
UNIT = 1e-9
"""Unit of positions, velocities, torques and forces (rad, rad/s, Nm, N)."""
