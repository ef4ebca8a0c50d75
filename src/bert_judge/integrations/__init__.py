"""Where others call us: plug-ins of other tools, reward functions, and Ray."""
