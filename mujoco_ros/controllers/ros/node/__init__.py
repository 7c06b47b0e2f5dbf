"""The node `controller`: a controller that commands a robot over its topics."""
