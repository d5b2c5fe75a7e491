"""The other ends of alerts: Keep, a webhook, whatever Apprise reaches.

Belongs here: sending and reading alerts over the network, without a secret in any word. Does not: order, retries, the
outbox.
"""

from kb_pipeline.adapters.notify.apprise_service import AppriseService
from kb_pipeline.adapters.notify.exposition import delivery_families
from kb_pipeline.adapters.notify.keep import KeepServer
from kb_pipeline.adapters.notify.webhook import Webhook

__all__ = ["AppriseService", "KeepServer", "Webhook", "delivery_families"]
