"""Whole-body control: tasks with weights, solved as a quadratic program."""
