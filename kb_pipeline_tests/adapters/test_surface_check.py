"""Surfaces that are configured, and surfaces that have traffic."""

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.surface_check import check_surfaces
from kb_pipeline_tests.builders import Upstream, closed_hour


def test_a_configuration_that_misses_every_surface_is_a_problem_that_names_both(database: Database) -> None:
    upstream = Upstream(database)
    upstream.call("a", closed_hour().start, surface="public")
    upstream.call("b", closed_hour().start, surface="staff")
    found = check_surfaces(database, ["website"])
    assert not found.ok
    assert "website" in found.message
    assert "public 1, staff 1" in found.message


def test_surfaces_that_are_not_graded_are_named_and_no_problem(database: Database) -> None:
    upstream = Upstream(database)
    upstream.call("a", closed_hour().start, surface="public")
    upstream.call("b", closed_hour().start, surface="staff")
    found = check_surfaces(database, ["public"])
    assert found.ok
    assert "not graded: staff 1" in found.message


def test_a_quiet_week_is_no_problem(database: Database) -> None:
    assert check_surfaces(database, ["public"]).ok
