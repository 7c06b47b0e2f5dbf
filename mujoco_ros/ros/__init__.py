"""Topics, services and parameters: conversions only, no physics."""
