"""What is told of a run: its directory, and the tables that a terminal shows."""
