"""ROS interface of controllers: lifecycle services, state parameters."""
