"""Running a controller many times under varied conditions, and telling how well it did."""
