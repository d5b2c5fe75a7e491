"""Fixtures of every command's tests."""

from kb_pipeline_tests.cli.test_database_commands import run

__all__ = ["run"]
