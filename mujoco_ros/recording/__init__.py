"""Bags of ROS topics, as rosbag2 writes them (MCAP).

The log of the full simulation state is another format: `mujoco_ros.sim.state_log`.
"""
