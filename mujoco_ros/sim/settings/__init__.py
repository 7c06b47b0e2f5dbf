"""Run-time settings that the simulation owns: gains, options, constraints, numbers of the model."""
