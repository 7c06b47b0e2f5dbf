"""Panels that controllers and extensions declare, as topics, services and parameters."""
