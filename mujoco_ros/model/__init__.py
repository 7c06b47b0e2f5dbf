"""Files to MjModel: scenes, URDF clean-up, merging under prefixes, and what a model is made of."""
