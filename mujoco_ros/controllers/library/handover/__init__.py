"""Controller of two arms, one of which hands a box over to the other."""
