"""Controller that balances humanoids and quadrupeds, with squatting and swaying."""
