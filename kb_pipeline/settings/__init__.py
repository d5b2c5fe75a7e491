"""The configuration: the only room that reads the environment and kb_pipeline.yaml.

Belongs here: what may be configured, where it is read from, a sentence for everything that cannot be used.
Does not: doing anything with a setting.
"""

from kb_pipeline.settings.environment import CONFIG_VARIABLE, cache_folder, child_environment
from kb_pipeline.settings.loading import find_config, load_settings
from kb_pipeline.settings.models import (
    AlertSettings,
    DatabaseSettings,
    RagQualitySettings,
    RedactionSettings,
    RetentionSettings,
    RetrievalSettings,
    ServiceSettings,
    Settings,
    ThresholdSettings,
    TokenSettings,
)
from kb_pipeline.settings.surfaces import SurfaceSettings

__all__ = [
    "CONFIG_VARIABLE",
    "AlertSettings",
    "DatabaseSettings",
    "RagQualitySettings",
    "RedactionSettings",
    "RetentionSettings",
    "RetrievalSettings",
    "ServiceSettings",
    "Settings",
    "SurfaceSettings",
    "ThresholdSettings",
    "TokenSettings",
    "cache_folder",
    "child_environment",
    "find_config",
    "load_settings",
]
