"""The node's rows on /diagnostics."""
