"""What a model is, and how well its robots hold their start: the report of ``check_robot``."""
