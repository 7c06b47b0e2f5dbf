"""ROS interface of controllers: lifecycle services, topics and parameters."""
