"""Training of the policy of `trot_policy`: ``python -m training``."""
