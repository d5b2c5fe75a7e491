"""`kb-pipeline demo`: both streets on this machine, with example traffic and reviews whose truth is known.

Belongs here: options. Does not: the demo.
"""

import click


@click.command(short_help="Both streets over example traffic, on this machine.")
@click.option("--turns", type=click.IntRange(1, 1_000_000), default=240, show_default=True, help="Turns of the day.")
@click.option("--hours", type=click.IntRange(1, 24 * 31), default=24, show_default=True, help="Hours they spread over.")
@click.option(
    "--seed", type=click.IntRange(0, 2**31 - 1), default=7, show_default=True, help="The same seed, the same traffic."
)
@click.option("--once", is_flag=True, help="Exit after the summary instead of serving.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON object.")
@click.option("--judge-url", metavar="URL", help="An OpenAI-compatible server in place of the reference judge.")
@click.option("--judge-model", metavar="M", help="The model to ask for there.")
def demo(
    turns: int, hours: int, seed: int, *, once: bool, as_json: bool, judge_url: str | None, judge_model: str | None
) -> None:
    """Embedded Postgres and queue, traffic and reviews with known truth, every asset through Dagster, and a summary.

    Then dashboard and Dagster UI until Ctrl-C. Nothing has to be installed or configured.
    """
    from kb_pipeline.demo.run import run_demo

    run_demo(
        turns=turns,
        hours=hours,
        seed=seed,
        once=once,
        as_json=as_json,
        judge_url=judge_url,
        judge_model=judge_model,
    )
