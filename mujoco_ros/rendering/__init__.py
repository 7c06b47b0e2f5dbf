"""Rendering of colour, depth and segmentation, and lidar scans. No ROS."""
