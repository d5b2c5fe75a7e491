"""Delivery to a real Keep: KEEP_URL names its API, KEEP_API_KEY sends and KEEP_READ_KEY reads."""

import os
import time
import uuid

import pytest
from pydantic import SecretStr

from kb_pipeline.adapters.clock import SystemClock
from kb_pipeline.adapters.notify import KeepServer
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline_tests.delivery.flips import Flips, delivering, stands

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.skipif("KEEP_URL" not in os.environ, reason="KEEP_URL names no Keep"),
]


def test_a_real_keep_takes_both_keys_and_a_fire_with_its_resolve_ends_resolved(database: Database) -> None:
    url, key = os.environ["KEEP_URL"], os.environ.get("KEEP_API_KEY", "none")
    read_key = os.environ.get("KEEP_READ_KEY", key)
    clock, tenant = SystemClock(), f"test-{uuid.uuid4().hex[:8]}"
    desk = delivering(database, clock, keep_url=url, keep_api_key=key, keep_read_key=read_key)
    flips = Flips(database, clock)
    with KeepServer(url, key=SecretStr(key), read_key=SecretStr(read_key)) as keep:
        assert [each for each in keep.check(within_s=10) if not each.ok] == []
        flips.fire(tenant, poison=True)
        flips.fire(tenant)
        fingerprint = flips.resolve(tenant)
        for _ in range(120):
            desk.deliver()
            if not desk.delivery()[0].pending + desk.delivery()[0].unconfirmed:
                break
            time.sleep(0.5)
        assert stands(database) == [("confirmed", 2), ("dead", 1)]
        assert keep.standing([fingerprint], within_s=10).seen == {fingerprint: 3}
