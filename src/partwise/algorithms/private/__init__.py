"""Methods whose published components are differentially private."""
