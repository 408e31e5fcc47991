"""Before a study: how many people it takes, whether its analysis errs, and its preregistration."""
