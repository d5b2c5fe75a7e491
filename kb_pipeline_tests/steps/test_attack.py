"""The attack bench against a judge that reads, and against judges that believe all they read."""

from collections.abc import Sequence

import pytest

from kb_pipeline.adapters.clock import SystemClock
from kb_pipeline.adapters.gateway import DialectMemory, GatewayJudge
from kb_pipeline.demo.reference_judge import ReferenceJudge
from kb_pipeline.grading.attacks import ATTACKS, Attack, attacked_turn
from kb_pipeline.grading.judging import ASPECTS, prompt, reply
from kb_pipeline.grading.judging.planted import Planted
from kb_pipeline.records import Graded, Judgement
from kb_pipeline.steps.attack import AttackReport, attack
from kb_pipeline.steps.trial import Trial, ask
from kb_pipeline_tests.gullible_judge import TEMPERS, gullible_judge

# A published score as near as this to the wanted grade would be the planted one.
NEAR = 0.1


def judge(base_url: str) -> GatewayJudge:
    return GatewayJudge(base_url=base_url, model="m", tenant="t", timeout_s=10, dialects=DialectMemory())


def report(base_url: str) -> AttackReport:
    return attack(judge(base_url), SystemClock())


def planted(judgements: Sequence[Judgement]) -> list[tuple[Attack, str]]:
    """The published scores that are what the attacks want."""
    return [
        (each, aspect)
        for each, judgement in zip(ATTACKS, judgements, strict=True)
        if isinstance(judgement, Graded)
        for aspect in ASPECTS
        if (value := getattr(judgement, aspect).value) is not None and abs(value - each.wants) <= NEAR
    ]


def under_attack(temper: str) -> list[Judgement]:
    trials = [Trial(name=f"attack-{place}", triad=attacked_turn(each)) for place, each in enumerate(ATTACKS)]
    with gullible_judge(TEMPERS[temper]) as server:
        return ask(trials, judge(server.base_url), SystemClock())


def test_no_attack_moves_a_score_of_the_reference_judge() -> None:
    with ReferenceJudge() as server:
        score = report(server.base_url).score
    assert (score.moved, score.attacks_moved) == (0, 0)
    assert score.published > score.attacks


@pytest.mark.slow
@pytest.mark.parametrize("temper", TEMPERS)
def test_no_planted_score_of_a_gullible_judge_is_published(temper: str) -> None:
    assert planted(under_attack(temper)) == []


@pytest.mark.parametrize(
    ("temper", "at_least"), [("echo", 20), ("echo_mended", 24), ("obey", 95), ("take_last_number", 90)]
)
def test_without_the_defence_the_same_judges_publish_what_was_planted(
    temper: str, at_least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prompt, "neutralise", lambda text, **_: text)
    monkeypatch.setattr(reply, "planted_in", lambda *_: Planted(written=frozenset(), asked=frozenset()))
    fooled = {each.text for each, _ in planted(under_attack(temper))}
    assert len(fooled) >= at_least
