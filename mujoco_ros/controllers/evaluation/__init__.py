"""Evaluation of controllers over many episodes under varied conditions."""
