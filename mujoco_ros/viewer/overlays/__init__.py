"""What is drawn over the scene: forces, references, balance."""
