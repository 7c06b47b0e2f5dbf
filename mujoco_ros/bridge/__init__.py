"""The node `mujoco`: ROS topics, services, actions and parameters of a simulation."""
