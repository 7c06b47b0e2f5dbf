"""URDF in and out: a robot as ROS describes it, and as MuJoCo simulates it."""
