"""From a spec, or from files made elsewhere, to a built study."""
