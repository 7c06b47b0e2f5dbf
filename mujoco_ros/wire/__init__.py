"""What clients and the simulator agree on: names, quality of service, messages, calls."""
