"""The panel "Plots"."""
