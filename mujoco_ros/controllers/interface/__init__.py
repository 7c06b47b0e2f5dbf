"""What a controller implements, and what its host provides."""
