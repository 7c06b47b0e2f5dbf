"""The standard services to control a simulation, those of the package simulation_interfaces."""
