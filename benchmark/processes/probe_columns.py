"""Columns of the probe's rows: one row of int64 for each step."""

BEGUN, STEPPED, PUBLISHED, STAMP, LATE, SHARED = range(6)
"""Begin of the step, end of the engine's step, end of publishing, stamp [ns]; number of deadline
misses; and the time at which the state was shared, if it is [ns]."""
ACTIVITY = SHARED + 1
"""With ``--commands``: the activity of the first robot."""
POSITION, VELOCITY, TORQUE, FORCE, CARTESIAN, GRIPPER, CONTROL = range(ACTIVITY + 1, ACTIVITY + 8)
"""With ``--commands``: what the step used, in units of `UNIT`. References of the first joint of the
first robot, the sum of the vertical external forces, the first number of the target of the
Cartesian controller, the target of the gripper, and the first control of the model."""
COLUMNS = CONTROL + 1
UNIT = 1e-9
"""Unit of the last columns, in m, rad, m/s, rad/s, N, Nm."""
