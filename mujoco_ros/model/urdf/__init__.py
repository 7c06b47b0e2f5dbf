"""URDF import and export."""
