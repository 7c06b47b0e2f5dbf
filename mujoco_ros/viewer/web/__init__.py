"""The web server of the viewer's page."""
