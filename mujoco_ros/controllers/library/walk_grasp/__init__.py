"""Controller with which a humanoid carries a box from one table to another."""
