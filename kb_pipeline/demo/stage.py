"""Where the demo plays: an embedded server, two databases, a configuration file and a home for Dagster.

Belongs here: making and finding these places. Does not: what is played on them.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import dagster as dg
import yaml
from dagster._core.instance.ref import InstanceRef

from kb_pipeline.adapters.embedded import EmbeddedPostgres
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.migrations import migrate
from kb_pipeline.adapters.postgres.sql_files import shipped_file, sql_folder
from kb_pipeline.settings import CONFIG_VARIABLE, Settings, child_environment, load_settings

OUR_DATABASE = "kb_pipeline"
DAGSTER_DATABASE = "dagster"
DAGSTER_URL_VARIABLE = "KB_PIPELINE_DAGSTER_URL"


@dataclass(frozen=True, kw_only=True, slots=True)
class Stage:
    """A migrated database with example upstream tables, and the files that point programs at it."""

    folder: Path
    database: Database
    dagster_url: str
    config: Path
    settings: Settings

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a program that works on this stage."""
        return child_environment(
            {
                CONFIG_VARIABLE: str(self.config),
                "DAGSTER_HOME": str(self.folder / "dagster_home"),
                DAGSTER_URL_VARIABLE: self.dagster_url,
            }
        )

    def with_quality(self, **quality: object) -> Settings:
        """Change keys of the section rag_quality in the configuration file; the settings that it gives now."""
        return self._with("rag_quality", quality)

    def with_service(self, **service: object) -> Settings:
        """Change keys of the section service in the configuration file; the settings that it gives now."""
        return self._with("service", service)

    def _with(self, section: str, keys: Mapping[str, object]) -> Settings:
        content = yaml.safe_load(self.config.read_text(encoding="utf-8"))
        content[section] = {**content.get(section, {}), **keys}
        self.config.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
        return load_settings(self.config)

    def instance(self) -> dg.DagsterInstance:
        """The Dagster instance that the UI will show."""
        storage = {"storage": {"postgres": {"postgres_url": self.dagster_url}}}
        return dg.DagsterInstance.from_ref(InstanceRef.from_dir(str(self.folder / "dagster_home"), overrides=storage))


@contextmanager
def set_stage(
    server: EmbeddedPostgres,
    folder: Path,
    *,
    start_at: datetime,
    quality: dict[str, Any],
    retrieval: dict[str, Any] | None = None,
    alerts: dict[str, Any] | None = None,
) -> Iterator[Stage]:
    """A fresh stage on a running server: what an earlier demo left in its databases is gone.

    `quality` are keys of the section rag_quality, such as judge_base_url; `retrieval` those of that section, without
    which the retrieval street stays switched off; `alerts` those of that section.
    """
    for name in (OUR_DATABASE, DAGSTER_DATABASE):
        server.drop_database(name)
        server.create_database(name)
    database = Database(server.url(OUR_DATABASE), application_name="kb_pipeline_demo")
    try:
        with database.connect() as connection:
            connection.execute((sql_folder() / "source_example.sql").read_bytes())
            connection.execute((sql_folder() / "source_views.sql").read_bytes())
        migrate(database)
        sections = {"rag_quality": {"enabled": True, "start_at": start_at.isoformat(), **quality}}
        if retrieval is not None:
            sections["retrieval"] = {"enabled": True, **retrieval}
        if alerts is not None:
            sections["alerts"] = alerts
        config = _write_config(folder, server.url(OUR_DATABASE), sections)
        yield Stage(
            folder=folder,
            database=database,
            dagster_url=server.url(DAGSTER_DATABASE, driver="postgresql+psycopg2"),
            config=config,
            settings=load_settings(config),
        )
    finally:
        database.dispose()


def _write_config(folder: Path, url: str, sections: dict[str, Any]) -> Path:
    home = folder / "dagster_home"
    home.mkdir(parents=True, exist_ok=True)
    (home / "dagster.yaml").write_bytes(shipped_file("dagster.yaml").read_bytes())
    (folder / "workspace.yaml").write_bytes(shipped_file("workspace.yaml").read_bytes())
    content = {**sections, "database": {"url": url}}
    config = folder / "kb_pipeline.yaml"
    config.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    # It holds the addresses of a database and of a queue.
    config.chmod(0o600)
    return config
