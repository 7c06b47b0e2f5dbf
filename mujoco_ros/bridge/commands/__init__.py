"""Topics and actions that command joints and actuators."""
