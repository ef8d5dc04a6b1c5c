"""Adds noise, counts leakage, sums in secret, and writes down what left."""
