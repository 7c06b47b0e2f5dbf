"""Models of clients, built in another process before the simulator builds them."""
