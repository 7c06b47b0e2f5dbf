"""Colours of the viewer: red, green, blue and opacity in 0..1."""

Colour = tuple[float, float, float, float]
"""Red, green, blue and opacity in 0..1."""

# Texts in the scene.
WHITE: Colour = (1.0, 1.0, 1.0, 1.0)

# Overlays.
CONTACT: Colour = (0.98, 0.66, 0.10, 0.9)
SENSED_FORCE: Colour = (0.16, 0.62, 0.95, 0.9)
SENSED_TORQUE: Colour = (0.56, 0.36, 0.90, 0.9)
APPLIED_FORCE: Colour = (0.92, 0.20, 0.22, 0.95)
APPLIED_TORQUE: Colour = (0.95, 0.35, 0.65, 0.95)
GHOST: Colour = (0.30, 0.70, 1.0, 0.35)
TRAIL: Colour = (0.95, 0.45, 0.75, 0.9)
SCAN: Colour = (0.95, 0.35, 0.15, 0.9)
PLAN: Colour = (0.20, 0.75, 0.30, 0.9)
CAMERA: Colour = (0.95, 0.75, 0.20, 0.9)
STABLE: Colour = (0.20, 0.75, 0.35, 0.95)
UNSTABLE: Colour = (0.92, 0.25, 0.20, 0.95)

# Axes of frames.
AXES: tuple[Colour, Colour, Colour] = (
    (0.90, 0.25, 0.25, 1.0),
    (0.25, 0.70, 0.30, 1.0),
    (0.25, 0.45, 0.95, 1.0),
)
