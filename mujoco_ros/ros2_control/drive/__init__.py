"""Driving on wheels: kinematics, odometry, limits and time-outs, without ROS and MuJoCo."""
