"""Controllers: interface, state machines, runtime, planning, and the shipped controllers."""
