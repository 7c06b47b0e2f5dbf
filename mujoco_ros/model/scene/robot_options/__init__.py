"""Settings of a robot in a scene file that change its model."""
