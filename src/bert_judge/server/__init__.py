"""Pages to work with in a browser, served to this machine alone."""
