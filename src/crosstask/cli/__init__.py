"""The command line: arguments -> one call -> printed result. Nothing imports this package."""
