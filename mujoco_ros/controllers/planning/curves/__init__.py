"""Joint-space curves and their time scaling."""
