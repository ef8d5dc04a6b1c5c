"""Methods for parties that keep their data and send what is of the size of H."""
