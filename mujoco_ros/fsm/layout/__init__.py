"""Where the boxes and arrows of a state machine's picture go; what draws them is elsewhere."""
