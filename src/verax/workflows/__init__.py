"""What people do with Verax from end to end: a spec in, a folder out; what the command line and Python both call."""
