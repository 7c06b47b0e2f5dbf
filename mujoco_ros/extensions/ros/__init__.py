"""Parameters, topics, services and diagnostics of extensions."""
