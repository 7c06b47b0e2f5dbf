"""The state log: the full simulation state of every step in one file, with the model.

Bags of ROS topics are another format: `mujoco_ros.recording`.
"""
