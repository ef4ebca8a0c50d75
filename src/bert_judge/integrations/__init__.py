"""Plug-ins of other tools: pytest."""
