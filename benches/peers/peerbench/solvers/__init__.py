"""The peers, a library or two a file."""
