"""What cameras and lidars see: pictures, depth, ranges and clouds of points; no ROS."""
