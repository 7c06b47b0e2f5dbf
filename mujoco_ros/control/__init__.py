"""What the joints are told: gains and references. No ROS, no MuJoCo."""
