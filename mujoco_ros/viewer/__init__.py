"""The viewer: MuJoCo Studio fed by the shared state, with panels; knows no ROS."""
