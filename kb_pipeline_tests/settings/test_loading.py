"""Where a setting comes from, and in which order."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kb_pipeline.errors import SettingsError
from kb_pipeline.settings import Settings, find_config, load_settings
from kb_pipeline_tests.settings.config import refusals, settings_of

REPOSITORY = Path(__file__).resolve().parents[2]


def test_without_file_and_variables_everything_is_dormant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    settings = load_settings(environ={})
    assert settings == Settings()
    assert not settings.rag_quality.enabled
    assert not settings.retrieval.enabled


def test_a_named_file_comes_before_the_variable_and_that_before_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_config(environ={}) is None
    Path("kb_pipeline.yaml").write_text("service: {port: 1}")
    Path("variable.yaml").write_text("service: {port: 2}")
    Path("named.yaml").write_text("service: {port: 3}")
    variable = {"KB_PIPELINE_CONFIG": "variable.yaml"}
    assert load_settings(environ={}).service.port == 1
    assert load_settings(environ=variable).service.port == 2
    assert load_settings(Path("named.yaml"), environ=variable).service.port == 3


@pytest.mark.parametrize("source", ["named", "variable"])
def test_a_named_file_that_is_missing_is_refused(tmp_path: Path, source: str) -> None:
    missing = tmp_path / "missing.yaml"
    path, environ = (missing, {}) if source == "named" else (None, {"KB_PIPELINE_CONFIG": str(missing)})
    with pytest.raises(SettingsError, match=r"missing\.yaml does not exist"):
        load_settings(path, environ=environ)


def test_a_folder_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        load_settings(tmp_path, environ={})


@pytest.mark.parametrize("text", ["", "# nothing\n", "rag_quality:\n", "rag_quality:\n  thresholds:\n  surfaces:\n"])
def test_an_empty_file_or_section_means_the_defaults(text: str) -> None:
    assert settings_of(text) == Settings()


def test_a_key_may_take_the_place_of_a_merged_one() -> None:
    text = """
rag_quality:
  surfaces:
    public: &public {question_marker: "Q:", context_marker: "C:"}
    staff:
      <<: *public
      question_marker: "S:"
"""
    staff = settings_of(text).rag_quality.surfaces["staff"]
    assert (staff.question_marker, staff.context_marker) == ("S:", "C:")


def test_a_slip_in_a_merged_section_is_refused_with_its_line() -> None:
    text = "rag_quality:\n  surfaces:\n    public:\n      <<: {quetion_marker: Q}\n"
    assert refusals(text) == [
        "4: rag_quality.surfaces.public.quetion_marker is not a known key; did you mean question_marker?"
    ]


def test_a_number_with_an_exponent_is_a_number() -> None:
    assert settings_of("rag_quality: {sample_rate: 1e-1}").rag_quality.sample_rate == 0.1


def test_a_file_without_an_end_is_refused() -> None:
    with pytest.raises(SettingsError, match="larger than 4 MiB"):
        load_settings(Path("/dev/zero"), environ={})


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "bom.yaml"
    file.write_bytes(b"\xef\xbb\xbfservice: {port: 81}")
    assert load_settings(file, environ={}).service.port == 81


def test_a_variable_takes_the_place_of_a_key() -> None:
    environ = {"KB_PIPELINE__SERVICE__PORT": "82", "KB_PIPELINE__RAG_QUALITY__THRESHOLDS__MIN_GRADED": "5"}
    settings = settings_of("service: {port: 81, host: a}", environ)
    assert settings.service.port == 82
    assert settings.service.host == "a"
    assert settings.rag_quality.thresholds.min_graded == 5


def test_a_variable_can_hold_a_list_or_a_section_in_json() -> None:
    environ = {
        "KB_PIPELINE__RETRIEVAL__ENGINES": '["hybrid", "dense"]',
        "KB_PIPELINE__RAG_QUALITY__SURFACES": '{"staff": {"question_marker": "Q:"}}',
    }
    settings = settings_of("", environ)
    assert settings.retrieval.engines == ("hybrid", "dense")
    assert settings.rag_quality.surfaces["staff"].question_marker == "Q:"


@pytest.mark.parametrize("text", ["12345", "null", "yes", "2026-07-09", "[a]", "'quoted'"])
def test_a_variable_of_a_text_setting_is_taken_as_it_stands(text: str) -> None:
    key = settings_of("", {"KB_PIPELINE__ALERTS__KEEP_API_KEY": text}).alerts.keep_api_key
    assert key is not None
    assert key.get_secret_value() == text


def test_an_empty_variable_means_null_where_null_is_accepted() -> None:
    environ = {"KB_PIPELINE__ALERTS__KEEP_API_KEY": "", "KB_PIPELINE__RAG_QUALITY__JUDGE_MODEL": ""}
    settings = settings_of("alerts: {keep_api_key: x}", environ)
    assert settings.alerts.keep_api_key is None
    assert settings.rag_quality.judge_model is None


def test_a_variable_can_name_a_file_with_the_value(tmp_path: Path) -> None:
    secret = tmp_path / "url"
    secret.write_bytes(b"\xef\xbb\xbfpostgresql://me:pw@host/db\r\n")
    settings = settings_of("", {"KB_PIPELINE__DATABASE__URL_FILE": str(secret)})
    assert settings.database_url == "postgresql+psycopg://me:pw@host/db"


def test_a_variable_whose_file_is_missing_names_both() -> None:
    [refusal] = refusals("", {"KB_PIPELINE__DATABASE__URL_FILE": "/nowhere/url"})
    assert refusal.startswith("KB_PIPELINE__DATABASE__URL_FILE names the file '/nowhere/url', which cannot be read")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\xff\xfe", "not UTF-8 text"),
        (b"a" * 2**21, "larger than 1 MiB"),
        (b"postgresql://h/d\0", "is text (not shown)"),
    ],
)
def test_a_file_that_holds_no_value_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    secret = tmp_path / "url"
    secret.write_bytes(content)
    [refusal] = refusals("", {"KB_PIPELINE__DATABASE__URL_FILE": str(secret)})
    assert refusal.startswith("KB_PIPELINE__DATABASE__URL_FILE ")
    assert reason in refusal


@pytest.mark.parametrize(("name", "reason"), [("", "is empty"), ("a\0b", "NUL character")])
def test_a_variable_that_names_no_file_is_refused(name: str, reason: str) -> None:
    [refusal] = refusals("", {"KB_PIPELINE__DATABASE__URL_FILE": name})
    assert reason in refusal


def test_a_value_and_a_file_with_it_exclude_each_other(tmp_path: Path) -> None:
    secret = tmp_path / "url"
    secret.write_text("postgresql://host/db")
    environ = {"KB_PIPELINE__DATABASE__URL": "postgresql://host/db", "KB_PIPELINE__DATABASE__URL_FILE": str(secret)}
    [refusal] = refusals("", environ)
    assert "are both set" in refusal


@pytest.mark.parametrize(
    ("variable", "guess"),
    [
        ("KB_PIPELINE__SERVICE__PROT", "KB_PIPELINE__SERVICE__PORT"),
        ("KB_PIPELINE_DATABASE__URL", "KB_PIPELINE__DATABASE__URL"),
        ("KB_PIPELINE_DATABASE_URL", "KB_PIPELINE__DATABASE__URL"),
        ("KB_PIPELINE__CONFIG", "KB_PIPELINE_CONFIG"),
        ("KB_PIPELINE__RAG_QUALITY__SURFACES__PUBLIC__QUESTION_MARKER", "KB_PIPELINE__RAG_QUALITY__SURFACES?"),
        ("kb_pipeline__database__url", "KB_PIPELINE__DATABASE__URL"),
        ("KB_PIPELINE__DATABASE", "KB_PIPELINE__DATABASE__URL"),
        ("KB_PIPELINE__WHATEVER__ELSE", "KB_PIPELINE__SECTION__KEY"),
    ],
)
def test_an_unknown_variable_is_refused_by_name_with_the_nearest_known_one(variable: str, guess: str) -> None:
    [refusal] = refusals("", {variable: "value of no setting"})
    assert refusal.startswith(f"{variable} names")
    assert guess in refusal
    assert "value of no setting" not in refusal


def test_other_programs_variables_are_left_alone() -> None:
    assert settings_of("", {"KB_PIPELINE_CONFIGURED_BY": "x", "PATH": "/bin", "KB__X": "y"}) == Settings()


def test_a_bad_value_of_a_variable_names_the_variable() -> None:
    [refusal] = refusals("service: {host: x}", {"KB_PIPELINE__SERVICE__PORT": "seventy"})
    assert refusal == 'KB_PIPELINE__SERVICE__PORT is "seventy"; accepted: a whole number from 1 to 65535'


def test_a_variable_below_something_that_is_no_section_does_not_hide_the_mistake() -> None:
    [refusal] = refusals("service: nonsense", {"KB_PIPELINE__SERVICE__PORT": "80"})
    assert "service is text" in refusal


def test_the_shipped_file_is_dormant_and_its_comments_are_the_defaults(tmp_path: Path) -> None:
    shipped = REPOSITORY / "kb_pipeline.yaml"
    if not shipped.exists():
        pytest.skip("the installed package ships no kb_pipeline.yaml")
    assert load_settings(shipped, environ={}) == Settings()
    keys = [line for line in shipped.read_text().splitlines() if re.match(r"# +[a-z_]+:|# [a-z_]+:$", line)]
    uncommented = tmp_path / "uncommented.yaml"
    uncommented.write_text("\n".join(line.removeprefix("# ") for line in keys))
    assert load_settings(uncommented, environ={}) == Settings()


def test_start_at_takes_a_time_of_any_zone_and_keeps_it_in_utc() -> None:
    settings = settings_of("rag_quality: {start_at: 2026-07-09T00:00:00+07:00}")
    assert settings.rag_quality.start_at == datetime(2026, 7, 8, 17, tzinfo=UTC)
    assert settings_of("rag_quality: {start_at: now}").rag_quality.start_at == "now"


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg", "postgresql+psycopg2"])
def test_a_database_url_names_our_driver_afterwards(scheme: str) -> None:
    assert (
        settings_of(f"database: {{url: '{scheme}://u:p@h:5432/d'}}").database_url == "postgresql+psycopg://u:p@h:5432/d"
    )


def test_a_missing_database_url_is_one_sentence_when_it_is_needed() -> None:
    with pytest.raises(SettingsError, match=r"database\.url is not set"):
        _ = Settings().database_url
