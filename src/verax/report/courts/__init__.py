"""One report for both courts: benchmarks and studies together."""
