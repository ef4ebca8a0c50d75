"""Pages that a person works with, served to this machine alone."""
