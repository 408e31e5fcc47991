"""The version of the installed package, at the bottom of the house, where every layer can read it."""

from importlib.metadata import PackageNotFoundError, version

# The name under which the package is published; it is imported, and called on the command line, as `verax`.
DISTRIBUTION = "verax-xai"

try:
    VERSION = version(DISTRIBUTION)
except PackageNotFoundError:  # run from a source tree that was not installed
    VERSION = "0"
