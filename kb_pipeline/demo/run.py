"""`kb-pipeline demo`: plant what a gateway and a chat application leave, run both streets, say what was found, serve.

Belongs here: the order of events, the lock, progress. Does not: each event.
"""

import fcntl
import json
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from kb_pipeline.adapters.clock import SystemClock
from kb_pipeline.adapters.embedded import EmbeddedPostgres
from kb_pipeline.adapters.embedded_queue import EmbeddedQueue
from kb_pipeline.demo import knowledge
from kb_pipeline.demo.alarms import Alarms
from kb_pipeline.demo.earlier import plant_earlier_windows
from kb_pipeline.demo.incidents import Incidents, grade_day, incidents_of
from kb_pipeline.demo.judged import incident_reports, judge_facts
from kb_pipeline.demo.local_keep import LocalKeep
from kb_pipeline.demo.pictures import show
from kb_pipeline.demo.reference_judge import MODEL, ReferenceJudge
from kb_pipeline.demo.retrieval.delivery import empty_queue
from kb_pipeline.demo.retrieval.library import ENGINES
from kb_pipeline.demo.retrieval.playing import RetrievalPlay
from kb_pipeline.demo.runs import DERIVED_IN_RUNS, DagsterRuns, derive_hours, keep_house
from kb_pipeline.demo.search import FullTextSearch, index
from kb_pipeline.demo.servers import DASHBOARD_PORT, HOST, UI_PORT, free_port, serving, showing, working
from kb_pipeline.demo.stage import Stage, set_stage
from kb_pipeline.demo.summary import Summary, summarise
from kb_pipeline.demo.traffic import Traffic, generate
from kb_pipeline.demo.upstream import plant
from kb_pipeline.errors import KbPipelineError
from kb_pipeline.grading.judging import PROMPT_VERSION
from kb_pipeline.grading_street import GradingStreet
from kb_pipeline.heartbeat import heartbeat
from kb_pipeline.records import JudgeVersion
from kb_pipeline.settings import cache_folder
from kb_pipeline.windows import Window, floor_hour

MAX_BATCH = 1_000_000
WORKER_PORT = 9464
# Some desks are asked about what they have nothing on.
EMPTY_SHARE_WARN = 0.5
# About a tenth of the answers are planted without a ground; a limit stands at twice what is usual.
UNGROUNDED_SHARE = 0.2


def run_demo(
    *,
    turns: int,
    hours: int,
    seed: int,
    once: bool,
    as_json: bool,
    judge_url: str | None,
    judge_model: str | None = None,
    folder: Path | None = None,
) -> None:
    """Play the demo in `folder` (default: the user's cache). Progress goes to stderr, the summary to stdout.

    Raises KbPipelineError where another demo plays in the same folder, or a part of it cannot run.
    """
    folder = folder or cache_folder() / "demo"
    console = Console(stderr=True)
    with ExitStack() as stack:
        stack.enter_context(_interruptible())
        stack.enter_context(_alone(folder))
        server = stack.enter_context(EmbeddedPostgres(folder / "postgres"))
        if server.notice:
            console.print(server.notice)
        judge = stack.enter_context(ReferenceJudge() if judge_url is None else nullcontext(None))
        queue = stack.enter_context(EmbeddedQueue(folder / "queue"))
        empty_queue(queue.url)
        keep = stack.enter_context(LocalKeep())
        began = time.monotonic()
        traffic = Traffic(turns=turns, hours=hours, seed=seed, end=floor_hour(SystemClock().now()))
        quality = _quality(judge.base_url if judge else judge_url, judge_model or MODEL)
        stage = stack.enter_context(
            set_stage(
                server,
                folder,
                start_at=traffic.window.start,
                quality=quality,
                retrieval=_retrieval(queue.url),
                alerts=_alerts(keep),
            )
        )
        stack.enter_context(working(stage.environment, folder))
        _tell(_play(stage, traffic, _Servers(judge, keep), began, console), as_json=as_json)
        if not once:
            _serve(stage, console)


def _tell(summary: Summary, *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps(summary.as_json(), allow_nan=False) + "\n")
        sys.stdout.flush()
    else:
        show(summary, Console())


class _Servers(NamedTuple):
    """What the pipeline talks to; `judge` is None where it is the user's own."""

    judge: ReferenceJudge | None
    keep: LocalKeep


def _play(stage: Stage, quiet: Traffic, servers: _Servers, began: float, console: Console) -> Summary:
    judge = servers.judge
    incidents = incidents_of(quiet)
    traffic = incidents.on(quiet)
    with _shown_progress(console) as progress, stage.instance() as instance:
        _plant(stage, traffic, incidents, progress)
        play = _converse(stage, traffic, incidents, progress)
        runs = DagsterRuns(stage.settings, instance)
        derive_hours(
            runs,
            play.window.hours(),
            _each(progress, "deriving hours of the retrieval street", play.window),
            in_runs=min(DERIVED_IN_RUNS, traffic.hours),
        )
        alarms = Alarms(stage.settings, stage.database, servers.keep)
        _look_back(alarms, incidents, traffic.window, progress)
        grade_day(
            runs,
            traffic.window.hours(),
            incidents,
            judge,
            spend=lambda tokens: runs.reconfigure(stage.with_quality(judge_daily_tokens=tokens)),
            mend=partial(_mend, stage),
            after=_then(alarms.evaluate, _each(progress, "grading hours through Dagster", traffic.window)),
        )
        keep_house(runs)
        found = play.find_out()
    return summarise(
        stage.database,
        traffic.window,
        retrieval=found,
        judge=judge_facts(stage.database, traffic.window, runs, judge),
        incidents=incident_reports(stage.database, runs.settings, incidents, was_away=judge is not None),
        alerts=alarms.facts(),
        checks=runs.checks,
        seconds=time.monotonic() - began,
        grounded_from=stage.settings.rag_quality.thresholds.faithfulness_warn,
    )


def _look_back(alarms: Alarms, incidents: Incidents, day: Window, progress: Progress) -> None:
    """Evaluate the hours from the first incident up to the graded day."""
    if incidents.drop is None:
        return
    before = Window(incidents.drop.start, day.start)
    advance = _each(progress, "evaluating alert rules", before)
    for hour in before.hours():
        alarms.evaluate(hour)
        advance(1)


def _then(first: Callable[[Window], None], advance: Callable[[int], None]) -> Callable[[Window], None]:
    def both(hour: Window) -> None:
        first(hour)
        advance(1)

    return both


def _mend(stage: Stage) -> None:
    with GradingStreet.open(stage.settings) as street:
        street.end_waits()


def _converse(stage: Stage, traffic: Traffic, incidents: Incidents, progress: Progress) -> RetrievalPlay:
    """Conversations into the application's tables, their retrievals through the queue."""
    playing = progress.add_task("playing conversations", total=1)
    play = RetrievalPlay.of(stage.database, traffic, empty=incidents.empty)
    progress.advance(playing)
    sending = progress.add_task("retrievals through the queue", total=len(play.events))
    play.deliver(stage.settings, lambda count: progress.update(sending, completed=count))
    return play


def _each(progress: Progress, title: str, window: Window) -> Callable[[int], None]:
    task = progress.add_task(title, total=len(list(window.hours())))
    return lambda more: progress.advance(task, more)


def _plant(stage: Stage, traffic: Traffic, incidents: Incidents, progress: Progress) -> None:
    articles = knowledge.load()
    index(stage.database, articles)
    model = stage.settings.rag_quality.judge_model or MODEL
    plant_earlier_windows(
        stage.database,
        until=traffic.window.start,
        version=JudgeVersion(model=model, prompt_version=PROMPT_VERSION),
        turns_per_day=round(traffic.turns * 24 / traffic.hours),
        seed=traffic.seed,
        drop=incidents.drop,
    )
    planting = progress.add_task("planting audited calls", total=None)
    for chunk in generate(traffic, articles, FullTextSearch(stage.database)):
        plant(stage.database, [chunk])
        progress.advance(planting, len(chunk))
    progress.update(planting, total=progress.tasks[planting].completed)


def _retrieval(redis_url: str) -> dict[str, Any]:
    return {
        "redis_url": redis_url,
        "engines": list(ENGINES),
        "empty_share_warn": EMPTY_SHARE_WARN,
        "worker_port": free_port(WORKER_PORT),
    }


def _alerts(keep: LocalKeep) -> dict[str, Any]:
    return {"keep_url": keep.base_url, "keep_api_key": keep.key, "keep_read_key": keep.read_key, "environment": "demo"}


def _quality(judge_url: str | None, model: str) -> dict[str, Any]:
    return {
        "judge_base_url": judge_url,
        "judge_model": model,
        "max_batch": MAX_BATCH,
        "judge_concurrency": 8,
        "thresholds": {"ungrounded_share": UNGROUNDED_SHARE},
    }


def _serve(stage: Stage, console: Console) -> None:
    console.print("Starting the dashboard, the Dagster UI and its daemon …")
    ui, port = free_port(UI_PORT), free_port(DASHBOARD_PORT)
    stage.with_service(host=HOST, port=port, dagster_url=f"http://{HOST}:{ui}")
    with (
        showing(stage.environment, stage.folder, port=port) as dashboard,
        serving(stage.environment, stage.folder, port=ui) as served,
    ):
        console.print(f"Dashboard    {dashboard.address}", style="bold")
        console.print(f"Dagster UI   {served.address}", style="bold")
        console.print(f"Settings     {stage.config}", soft_wrap=True)
        console.print("             (kb-pipeline --config takes them, for example: explain, grade)", soft_wrap=True)
        console.print("Ctrl-C stops everything; the data stay until the next demo.")
        served.wait()


@contextmanager
def _shown_progress(console: Console) -> Iterator[Progress]:
    """Bars on a terminal; elsewhere a plain line every ten seconds."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    progress = Progress(*columns, console=console, disable=not console.is_terminal)
    if console.is_terminal:
        with progress:
            yield progress
        return

    def state() -> str:
        begun = [task for task in progress.tasks if not task.finished] or progress.tasks[-1:]
        return (
            ", ".join(f"{task.description} {task.completed:,.0f} of {task.total or 0:,.0f}" for task in begun)
            or "working"
        )

    with heartbeat(lambda line: console.print(line, soft_wrap=True, highlight=False), state):
        yield progress


@contextmanager
def _interruptible() -> Iterator[None]:
    """SIGTERM and a hang-up end the demo as Ctrl-C does: everything it started is stopped."""

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    # A shell starts background commands with SIGINT ignored, and the children would inherit that.
    before[signal.SIGINT] = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "demo.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise KbPipelineError(
                f"another demo plays in {folder}; stop it with Ctrl-C, or set XDG_CACHE_HOME to play elsewhere"
            ) from None
        yield
