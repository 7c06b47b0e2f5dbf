"""The parts of recording, state log and replay that need ROS.

Executable `record`: `recorder`, `bag`, `repair`. The simulator's component that writes the state
log (`sim.state_log`): `state_logging`. The executable that plays a state log: `replay_node`.
"""
