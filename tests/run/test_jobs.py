"""Jobs are known by what they do."""

from __future__ import annotations

import hashlib

import pytest

from verax.errors import VeraxError
from verax.run import Job


def job(name="a job", function="package.module:function", version=1, **arguments):
    return Job(name, function, arguments, version)


def test_key_is_the_hash_of_function_version_and_arguments():
    text = '{"arguments":{"seed":3,"weights":[0.5]},"function":"package.module:function","version":2}'
    expected = hashlib.sha256(text.encode()).hexdigest()
    assert job(version=2, weights=(0.5,), seed=3).key == expected


def test_key_ignores_the_name_and_the_order_of_arguments():
    assert job(name="x", a=1, b=2).key == job(name="y", b=2, a=1).key


@pytest.mark.parametrize(
    "other",
    [
        job(seed=2),
        job(seed=1.0),
        job(seed=1, version=2),
        job(seed=1, function="package.module:other"),
        job(sed=1),
    ],
)
def test_key_changes_with_all_else(other):
    assert other.key != job(seed=1).key


@pytest.mark.parametrize("function", ["module.function", ":f", "module:", ""])
def test_function_without_module_or_name_is_refused(function):
    with pytest.raises(VeraxError, match=r"names its function as .*; write package.module:function"):
        job(function=function)


def test_function_of_a_script_is_refused():
    with pytest.raises(VeraxError, match="workers cannot import; move it into a module"):
        job(function="__main__:f")


def test_arguments_that_are_not_plain_are_refused_with_the_job_and_place():
    with pytest.raises(VeraxError, match=r"the job 'a job'\['arguments'\]\['seeds'\] is a builtins.range"):
        job(seeds=range(3))
