"""Closes the gripper on what touches it, and opens it when it is flicked."""
