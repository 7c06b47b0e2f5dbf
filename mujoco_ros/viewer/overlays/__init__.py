"""Overlays in the scene: forces, references, balance and messages of topics."""
