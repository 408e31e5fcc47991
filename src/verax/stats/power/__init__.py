"""Power by simulation: simulated studies, and how often they find what was put in."""
