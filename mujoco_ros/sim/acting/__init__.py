"""Acting on a running simulation from outside: forces, mocap bodies, options, looks."""
