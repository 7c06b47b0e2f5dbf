"""The node `controller`: runs a controller against the topics of a robot."""
