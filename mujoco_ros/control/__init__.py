"""References, gains and trajectories of joints. No ROS, no MuJoCo."""
