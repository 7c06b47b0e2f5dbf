"""The signals of a simulation over time: what can be plotted, and its samples."""
