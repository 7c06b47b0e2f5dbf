"""Overlays in the scene: forces, references, balance."""
