"""Overlays in the scene: forces, references and balance."""
