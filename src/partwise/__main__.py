"""`python -m partwise` is the command `partwise`."""

from partwise.cli import main

main()
