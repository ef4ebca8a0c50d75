"""Plug-ins and interfaces of other tools: pytest, evaluate, inspect_ai, lighteval, lm-eval, torchmetrics."""
