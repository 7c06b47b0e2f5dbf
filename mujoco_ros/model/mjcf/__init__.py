"""MJCF files before MuJoCo reads them."""
