"""Methods for one machine."""
