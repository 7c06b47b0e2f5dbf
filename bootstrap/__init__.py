"""Set-up of mujoco_ros and ROS 2 in a virtual environment: `python3 -m bootstrap`.

It needs only the standard library. Each step records a digest of its inputs and is skipped while
they do not change: a second run takes no time, and an interrupted one resumes.
"""
