"""Bags as rosbag2 writes them, and the log of the full state."""
