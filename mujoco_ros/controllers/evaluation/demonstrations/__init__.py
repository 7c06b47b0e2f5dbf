"""Episodes as demonstrations for learning, and their replay."""
