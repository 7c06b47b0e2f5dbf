"""Interface between controllers and their hosts."""
