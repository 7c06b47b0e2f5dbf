"""Planning: inverse kinematics, collision-free paths, time scaling, impedance."""
