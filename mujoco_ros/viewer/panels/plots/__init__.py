"""The panel "Plots": signals over time."""
