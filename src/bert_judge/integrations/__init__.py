"""Where others call us: plug-ins of other tools, reward functions, Ray, and exports into other formats."""
