"""The published bootstrap of Change: 25,000 replicates on 2,166 answers, and R's loop on some of them, scaled up.

R's side is the published procedure in base R with lme4 (the script's own loop goes through dplyr, which is slower).
One thread each; without R only Verax is timed.
"""

from __future__ import annotations

import argparse
import csv
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np

from verax.stats import hase2020

R_LOOP = """
suppressPackageStartupMessages(library(lme4))
arguments <- commandArgs(trailingOnly = TRUE)
data <- read.csv(arguments[1])
replicates <- as.integer(arguments[2])
set.seed(1)
resampled <- function(data, key) {
  rows <- split(seq_len(nrow(data)), data[[key]])
  drawn <- integer(0)
  while (length(drawn) < nrow(data)) drawn <- c(drawn, rows[[sample.int(length(rows), 1)]])
  data[drawn[seq_len(nrow(data))], ]
}
one <- function(number) {
  sample <- resampled(resampled(data, "participant"), "item")
  model <- suppressWarnings(suppressMessages(glmer(pre ~ (1 | method), data = sample, family = binomial)))
  if (isSingular(model)) return(rep(NA, 5))
  pre <- 1 / (1 + exp(-coef(model)$method[, 1]))
  names(pre) <- rownames(coef(model)$method)
  tapply(sample$post, factor(sample$method, levels = letters[1:5]), mean) - pre[letters[1:5]]
}
invisible(one(0))
started <- proc.time()[["elapsed"]]
cpu <- sum(proc.time()[1:2])
changes <- t(sapply(seq_len(replicates), one))
cat(proc.time()[["elapsed"]] - started, sum(proc.time()[1:2]) - cpu, "\\n")
"""


def study(answers: int):
    """39 people in five methods, 64 items, in the paper's shape: participant, item, method, pre, post."""
    rng = np.random.default_rng(0)
    difficulty, rows, number = rng.normal(0, 1, 64), [], 0
    for method, people in zip("abcde", (9, 8, 8, 8, 6), strict=True):
        for _ in range(people):
            number += 1
            ability = rng.normal(0, 0.55)
            for item in np.flatnonzero(rng.random(64) < 0.9):
                pre, post = rng.random(2) < 1 / (1 + np.exp(-(0.87 + ability + difficulty[item])))
                rows.append((number, int(item), method, int(pre), int(post)))
    return [rows[place] for place in np.sort(rng.permutation(len(rows))[:answers])]


def time_r(rows, replicates: int) -> tuple[float, float]:
    """Seconds and seconds of processor per replicate of R's loop."""
    with tempfile.TemporaryDirectory() as folder:
        data, script = Path(folder, "data.csv"), Path(folder, "loop.R")
        script.write_text(R_LOOP)
        with data.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("participant", "item", "method", "pre", "post"))
            writer.writerows(rows)
        command = ["Rscript", str(script), str(data), str(replicates)]
        times = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return float(times[0]) / replicates, float(times[1]) / replicates


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=25_000)
    parser.add_argument("--answers", type=int, default=2_166)
    parser.add_argument("--r-replicates", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    rows = study(arguments.answers)
    columns = list(zip(*rows, strict=True))
    hase2020.change(*columns, replicates=256)  # imports and first touches
    seconds, processor = [], []
    for _ in range(arguments.repeats):
        started, cpu = time.perf_counter(), time.process_time()
        changes = hase2020.change(*columns, replicates=arguments.replicates)
        seconds.append(time.perf_counter() - started)
        processor.append(time.process_time() - cpu)
    ours, our_cpu = min(seconds), min(processor)
    print(
        f"verax: {arguments.replicates} replicates on {len(rows)} answers in {ours:.2f} s "
        f"({our_cpu:.2f} s of processor, best of {arguments.repeats}); {changes.singular} singular"
    )
    if shutil.which("Rscript") is None:
        print("R is not here: no comparison")
        return
    theirs, their_cpu = time_r(rows, arguments.r_replicates)
    whole = theirs * arguments.replicates
    print(
        f"R:     {arguments.r_replicates} replicates, {1000 * theirs:.0f} ms each ({1000 * their_cpu:.0f} ms of processor): "
        f"{whole / 60:.0f} minutes for {arguments.replicates}"
    )
    print(
        f"ratio: {whole / ours:.0f}x by the clock, {their_cpu * arguments.replicates / our_cpu:.0f}x by processor time"
    )


if __name__ == "__main__":
    main()
