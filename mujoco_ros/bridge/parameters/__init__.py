"""Parameters of the node: declaration, checks and changes at run time."""
