"""The only loops. What repeats, when it stops, what is kept of it."""
