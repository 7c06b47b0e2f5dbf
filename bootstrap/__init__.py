"""Set mujoco_ros up in a virtual environment of its own, ROS 2 included: `python3 -m bootstrap`.

Needs nothing but the standard library.  Every step remembers what it was made from and is skipped
while that has not changed: a second run costs nothing, an interrupted one resumes where it stopped.
"""
