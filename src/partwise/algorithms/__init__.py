"""Named methods: one iteration each, the paper beside the code. The loop is the driver's."""
