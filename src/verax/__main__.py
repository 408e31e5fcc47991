"""``python -m verax``: the command line."""

from verax.cli.main import main

main()
