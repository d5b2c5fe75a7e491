"""Jobs whose ids collide with the queue's own keys: found, and moved aside so that the queue goes on and they do too.

Belongs here: which names those are, and what else lies where it should not. Does not: when to look.

BullMQ keeps a job under the queue's prefix and its id, and in Python validates no id, so a job `active` lies where the
list of active jobs belongs. In its PostgreSQL backend ids are rows, and nothing of this can happen.
"""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any
from uuid import uuid4

from redis.asyncio import Redis

TYPES = {
    "active": "list",
    "wait": "list",
    "paused": "list",
    "delayed": "zset",
    "prioritized": "zset",
    "completed": "zset",
    "failed": "zset",
    "waiting-children": "zset",
    "marker": "zset",
    "repeat": "zset",
    "stalled": "set",
    "stalled-check": "string",
    "id": "string",
    "pc": "string",
    "limiter": "string",
    "events": "stream",
}
"""The queue's own keys and what they hold. `meta` holds what a job holds, and is there before any job is."""
PASSED_OVER = "0:"
"""BullMQ takes an id that begins so for a marker of an old version, and forgets the job."""
SCAN_COUNT = 1000


@dataclass(frozen=True, kw_only=True, slots=True)
class Collisions:
    """What a look found: how many jobs were moved aside, and keys that hold something else that nobody may touch."""

    moved: int = 0
    foreign: tuple[str, ...] = ()


async def rescue(client: Redis, prefix: str) -> Collisions:
    """Move aside every job that lies on one of the queue's own keys; `prefix` ends in a colon."""
    names = list(TYPES)
    wrong = {name: kind for name, kind in zip(names, await _kinds(client, prefix, names), strict=True) if kind}
    if not wrong:
        return Collisions()
    moved = await _move(client, prefix, list(wrong))
    after = await _kinds(client, prefix, list(wrong))
    foreign = [f"{name} ({kind})" for name, kind in zip(wrong, after, strict=True) if kind]
    return Collisions(moved=moved, foreign=tuple(foreign))


async def rescue_passed_over(client: Redis, prefix: str) -> int:
    """Put back every job that BullMQ passes over for its id; looks through all keys of the server, a few at a time."""
    moved = 0
    pattern = f"{_escaped(prefix)}{PASSED_OVER}*"
    async for key in client.scan_iter(match=pattern, count=SCAN_COUNT, _type="hash"):
        moved += await _move(client, prefix, [str(key).removeprefix(prefix)])
    return moved


async def _kinds(client: Redis, prefix: str, names: list[str]) -> list[str | None]:
    """What each key holds, None where that is nothing or what belongs there."""
    async with client.pipeline(transaction=False) as pipeline:
        for name in names:
            pipeline.type(prefix + name)
        found: list[str] = await pipeline.execute()
    return [None if kind in {"none", TYPES[name]} else kind for name, kind in zip(names, found, strict=True)]


async def _move(client: Redis, prefix: str, names: list[str]) -> int:
    stem = f"rescued-{uuid4()}-"
    keys: list[Any] = [prefix + name for name in names]
    moved: list[str] = await client.eval(_script(), len(keys), *keys, prefix, stem, *names)
    return len(moved)


@cache
def _script() -> str:
    return files(__package__).joinpath("rescue.lua").read_text(encoding="utf-8")


def _escaped(prefix: str) -> str:
    """The prefix as a pattern that matches nothing else."""
    return "".join(f"\\{sign}" if sign in "*?[]^\\" else sign for sign in prefix)
