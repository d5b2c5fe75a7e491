"""What planted orders achieve: against the reference judge, and against judges that believe all they read.

    .venv/bin/python -m benchmarks.attacks

One row a judge: the attacks that move a published score without the defence, and with it. Without means that no text is
neutralised and no score withheld.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from unittest.mock import patch

from kb_pipeline.adapters.clock import SystemClock
from kb_pipeline.adapters.gateway import DialectMemory, GatewayJudge
from kb_pipeline.demo.reference_judge import ReferenceJudge
from kb_pipeline.grading.attacks import ATTACKS
from kb_pipeline.grading.judging.planted import Planted
from kb_pipeline.steps.attack import attack
from kb_pipeline_tests.gullible_judge import TEMPERS, gullible_judge
from kb_pipeline_tests.http_servers import ScriptedServer

NOTHING = Planted(written=frozenset(), asked=frozenset())
Server = AbstractContextManager[ScriptedServer | ReferenceJudge]


def main() -> None:
    """Print the table."""
    servers: dict[str, Server] = {"reference judge": ReferenceJudge()}
    servers |= {name: gullible_judge(temper) for name, temper in TEMPERS.items()}
    print(f"{'judge':<18}{'attacks':>9}{'moved without':>15}{'moved with':>12}")
    for name, context in servers.items():
        with context as server:
            with undefended():
                without = moved(server.base_url)
            print(f"{name:<18}{len(ATTACKS):>9}{without:>15}{moved(server.base_url):>12}")


@contextmanager
def undefended() -> Iterator[None]:
    """Within the block texts go to the judge as they are, and its scores are taken as they come."""
    with (
        patch("kb_pipeline.grading.judging.prompt.neutralise", lambda text, **_: text),
        patch("kb_pipeline.grading.judging.reply.planted_in", lambda *_: NOTHING),
    ):
        yield


def moved(base_url: str) -> int:
    """How many attacks move a published score of the judge there."""
    judge = GatewayJudge(base_url=base_url, model="m", tenant="bench", dialects=DialectMemory())
    return attack(judge, SystemClock()).score.attacks_moved


if __name__ == "__main__":
    main()
