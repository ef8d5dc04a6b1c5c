"""Talks: what ranks say to one another, whoever carries it."""
