"""A benchmark on a Dask cluster: here two workers on this machine, elsewhere any scheduler's address.

`python dask_cluster.py` starts its own; `python dask_cluster.py tcp://10.0.0.1:8786` takes yours, on whose workers
Verax must be installed too. It needs verax-xai[bench,cluster,data]. The numbers are the same wherever it runs.
"""

import sys

import verax


def bench(address: str, out: str = "runs/cluster"):
    """A small staining run whose trials are done by the workers."""
    return verax.stain(
        "rotten-tomatoes", ["logistic"], ["lime(samples=300)", "greedy"],
        limit=1500, stains=2, inputs=3, learnt=0.0, out=out, cluster=address,
    )  # fmt: skip


if __name__ == "__main__":
    if len(sys.argv) > 1:
        run = bench(sys.argv[1])
    else:
        from distributed import LocalCluster

        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
            run = bench(cluster.scheduler_address)
    print(run.results.groupby("explainer")["auc"].mean())
    print(run.folder / "report.html")
