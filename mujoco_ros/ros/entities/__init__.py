"""Entities and worlds, as simulation_interfaces speaks of them."""
