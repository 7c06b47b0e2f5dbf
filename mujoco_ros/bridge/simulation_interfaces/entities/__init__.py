"""Services of simulation_interfaces about entities."""
