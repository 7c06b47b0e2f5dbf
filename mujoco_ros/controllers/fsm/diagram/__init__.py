"""State diagrams as SVG."""
