"""A configuration from a text: its settings, or the sentences that refuse it."""

import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from kb_pipeline.errors import SettingsError
from kb_pipeline.settings import Settings, load_settings


def settings_of(text: str, environ: Mapping[str, str] | None = None) -> Settings:
    """The settings that a file with this text gives."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kb.yaml"
        file.write_text(text, encoding="utf-8")
        return load_settings(file, environ=environ or {})


def refusals(text: str, environ: Mapping[str, str] | None = None) -> list[str]:
    """The sentences that refuse a file with this text, without its folder."""
    with pytest.raises(SettingsError) as refused:
        settings_of(text, environ)
    assert refused.value.exit_code == 2
    return [line.partition("kb.yaml:")[2] or line for line in str(refused.value).splitlines()]
