"""The node `controller`: a controller beside a robot, which it knows by its topics alone."""
