"""The engine's callbacks, composed of the hooks of extensions."""
