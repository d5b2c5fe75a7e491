"""The judge's server as the settings name it: judges that ask it, and how much text it takes at once.

Belongs here: composition of client, context window and grading by parts. Does not: runs, claims, budgets.
"""

from kb_pipeline.adapters.gateway import ContextWindow, GatewayJudge, context_window, refuse_public_host
from kb_pipeline.grading.judging.cost import characters_within
from kb_pipeline.records import JudgeVersion
from kb_pipeline.settings import RagQualitySettings
from kb_pipeline.steps.judge import InParts


class JudgeServer:
    """The configured server, or the one at `base_url`. A server that has to be asked for its window is asked once."""

    def __init__(self, quality: RagQualitySettings, *, base_url: str | None = None) -> None:
        self._quality = quality
        self._base_url = base_url or quality.judge_base_url
        self._windows: dict[str, ContextWindow] = {}

    def judge(self, version: JudgeVersion) -> InParts:
        """A judge of the version, which grades by parts what is too long; raises JudgeRefused for a public host."""
        quality = self._quality
        refuse_public_host(self._base_url, allow_external=quality.allow_external_judge)
        tokens = self._window(version).tokens
        judge = GatewayJudge(
            base_url=self._base_url,
            model=version.model,
            tenant=quality.judge_tenant,
            timeout_s=quality.judge_timeout_s,
            concurrency=quality.judge_concurrency,
            allow_external=quality.allow_external_judge,
            context_tokens=tokens,
        )
        return InParts(judge, context_tokens=tokens)

    def characters(self, version: JudgeVersion) -> int:
        """Characters of question, history, context and answer that one call holds."""
        return characters_within(self._window(version).tokens)

    def _window(self, version: JudgeVersion) -> ContextWindow:
        if version.model not in self._windows:
            self._windows[version.model] = context_window(
                self._quality.judge_context_tokens,
                base_url=self._base_url,
                model=version.model,
                tenant=self._quality.judge_tenant,
                allow_external=self._quality.allow_external_judge,
            )
        return self._windows[version.model]
