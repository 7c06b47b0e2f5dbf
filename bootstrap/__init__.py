"""Set up mujoco_ros in a virtual environment, including ROS 2: `python3 -m bootstrap`.

Requires the standard library only. Every step records its inputs and is skipped while they have not
changed: a second run takes no time, and an interrupted one resumes at the interrupted step.
"""
