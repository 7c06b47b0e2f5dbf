"""The component of the simulator that runs hosted controllers."""
