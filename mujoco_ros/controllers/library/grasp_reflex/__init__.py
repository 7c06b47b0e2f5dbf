"""Controller that closes the gripper on touch and opens it on a flick."""
