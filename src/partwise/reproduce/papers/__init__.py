"""One file for each paper: its figures and tables."""
