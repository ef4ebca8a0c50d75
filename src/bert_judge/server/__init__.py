"""Judges over HTTP for everybody who may ask, and pages to work with in a browser, served to this machine alone."""
