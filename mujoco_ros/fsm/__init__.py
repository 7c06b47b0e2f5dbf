"""Controllers made of states and transitions, the same in simulation and on the robot."""
