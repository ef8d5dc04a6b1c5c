"""Merges several H into one: alignments and barycenters."""
