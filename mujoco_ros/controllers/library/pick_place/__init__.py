"""Controller that picks an object from a table and places it elsewhere."""
