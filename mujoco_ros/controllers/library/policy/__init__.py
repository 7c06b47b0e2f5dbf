"""States that run trained policies in ONNX files."""
