"""The version of the installed package, at the bottom of the house, where every layer can read it."""

from importlib.metadata import PackageNotFoundError, version

try:
    VERSION = version("verax")
except PackageNotFoundError:  # run from a source tree that was not installed
    VERSION = "0"
