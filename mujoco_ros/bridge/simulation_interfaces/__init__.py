"""The services and actions of the package simulation_interfaces."""
