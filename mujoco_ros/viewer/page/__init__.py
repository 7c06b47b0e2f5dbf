"""The page of the viewer: panels around the scene, in any browser."""
