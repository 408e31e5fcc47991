"""What every page needs from HTTP: forms, limits, origins, policies, assets and templates."""
