"""What serves a user in Python: scikit-learn estimators, and `factorize` beneath them."""
