"""The viewer: MuJoCo Studio fed from shared memory, with panels. No ROS."""
