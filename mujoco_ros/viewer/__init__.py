"""The viewer: a page with the scene and panels, fed from shared memory."""
