"""External forces, mocap bodies, and changes of options and appearance."""
