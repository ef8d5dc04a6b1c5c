"""partwise."""
