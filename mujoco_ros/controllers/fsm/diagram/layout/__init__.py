"""Layout of state diagrams: positions of boxes and routes of arrows."""
