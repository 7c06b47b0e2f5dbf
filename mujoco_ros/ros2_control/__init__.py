"""Controllers of a ros2_control parameter file, run in the physics thread."""
