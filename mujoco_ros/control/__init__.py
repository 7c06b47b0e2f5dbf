"""Command arbitration, references, gains and trajectories of joints. No ROS, no MuJoCo."""
