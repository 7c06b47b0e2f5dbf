"""The controllers that are shipped: states and tables, for simulator and robot alike."""
