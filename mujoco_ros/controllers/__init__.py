"""Controllers: interface, state machines, runtime, planning, and those that are shipped."""
