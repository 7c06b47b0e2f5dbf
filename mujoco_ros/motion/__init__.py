"""How a robot gets where it shall be: kinematics, planning, time scaling, impedance."""
