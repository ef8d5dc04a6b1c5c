"""Methods side by side: the same starts for all, and how long each takes to which error."""
