"""Controller that makes a humanoid walk with a commanded velocity."""
