"""Pages without WebGL: one for phones, one that only displays, and gamepads of all pages."""
