"""Work-arounds for rclpy, each with its upstream issue; see README.md."""
