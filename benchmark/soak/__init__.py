"""A run of hours, in parts that resume."""
