"""Scene files, and their assembly into one MuJoCo model."""
