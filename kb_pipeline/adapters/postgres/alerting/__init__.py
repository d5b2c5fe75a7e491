"""Alerting over PostgreSQL: statistics from the hourly windows, states, flips, the outbox, silences."""
