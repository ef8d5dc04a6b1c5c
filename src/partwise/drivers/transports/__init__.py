"""Ways for letters to go between a server and its parties; no algorithm lives here."""
