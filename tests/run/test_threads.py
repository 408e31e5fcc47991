"""Matrix products of our own take one thread; what other code has set is put back."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import verax
from helpers import make_texts
from verax.explain.lime import Lime
from verax.explain.perturbed import BANKS
from verax.perturb import regression
from verax.run.threads import one_blas_thread


def blas_threads() -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_threads_are_put_back_also_after_an_error():
    with threadpool_limits(2, user_api="blas"):
        with one_blas_thread():
            assert set(blas_threads()) == {1}
        with pytest.raises(RuntimeError), one_blas_thread():
            raise RuntimeError
        assert set(blas_threads()) == {2}


def test_an_explainer_multiplies_in_one_thread_whatever_its_user_set(monkeypatch):
    texts, _ = make_texts(2)
    during = []
    normal = regression.normal_of_masks

    def watched(*arguments):
        during.extend(blas_threads())
        return normal(*arguments)

    monkeypatch.setattr(regression, "normal_of_masks", watched)
    BANKS.clear()
    model = verax.as_model(lambda given: np.full((len(given), 2), 0.5), kind="text")
    with threadpool_limits(2, user_api="blas"):
        Lime(samples=50).explain(model, texts)
        assert set(blas_threads()) == {2}
    assert set(during) == {1}


def test_the_blas_libraries_are_those_that_threadpoolctl_finds_among_all():
    from threadpoolctl import ThreadpoolController

    from verax.run.threads import _blas_pools

    every = ThreadpoolController().select(user_api="blas").lib_controllers
    _blas_pools.cache_clear()
    assert {pool.filepath for pool in _blas_pools()} == {pool.filepath for pool in every}
    assert every


def test_where_the_system_lists_no_files_all_libraries_are_looked_through(tmp_path):
    from verax.run.threads import _loaded_blas

    assert _loaded_blas(tmp_path / "none") is None
    listed = tmp_path / "maps"
    listed.write_bytes(
        b"7f 00 /usr/lib/libopenblas.so.0\n7f 00 /usr/lib/libc.so.6\n7f 00 [heap]\n7f 00 /x/libmkl_rt.so\n"
    )
    assert _loaded_blas(listed) == ["/usr/lib/libopenblas.so.0", "/x/libmkl_rt.so"]
