"""Mixed models with crossed participants and items: the cross-checks of `verax.stats.crossed.between`."""
