"""Tests with people: a study is built from a spec, frozen in a folder, and answered in the web app."""
