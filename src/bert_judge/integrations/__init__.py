"""Plug-ins and interfaces of other tools: pytest, evaluate, torchmetrics."""
