"""Run-time settings that the simulation owns: gains, options, constraints, appearance."""
