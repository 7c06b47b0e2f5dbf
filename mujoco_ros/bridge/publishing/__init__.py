"""Publishers that patch numbers into messages serialized once."""
