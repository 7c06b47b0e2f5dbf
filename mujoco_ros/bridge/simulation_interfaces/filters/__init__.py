"""Filters that requests of simulation_interfaces carry."""
