# The two commands: make demo, make test. Both make their environment in .venv first.

.SILENT:
.PHONY: demo test test-fast lint format schema screenshots bench environment clean

# Arguments for the command behind a target: make demo ARGS="--once --json", make test ARGS="-k settings".
ARGS =

# A worker takes one file after the other, longest first, so that none works on alone at the end.
SIDE_BY_SIDE = -n auto --dist loadfile --no-loadscope-reorder

# Compiled modules are kept also where the shell says otherwise: without them every process of the demo and of the tests
# compiles Dagster and Great Expectations anew, for seconds.
export PYTHONDONTWRITEBYTECODE =

demo: environment
	exec .venv/bin/kb-pipeline demo $(ARGS)

test: environment
	exec .venv/bin/python -m pytest $(SIDE_BY_SIDE) $(ARGS)

test-fast: environment
	exec .venv/bin/python -m pytest $(SIDE_BY_SIDE) -m "not slow and not postgres" $(ARGS)

lint: environment
	failed=0; \
	for check in "ruff check" "ruff format --check" mypy lint-imports "uv lock --check"; do \
		echo "$$check"; .venv/bin/$$check || failed=1; \
	done; \
	exit $$failed

format: environment
	.venv/bin/ruff check --fix --select I,F401
	.venv/bin/ruff format

schema: environment
	.venv/bin/python -m kb_pipeline_tests.schema_file

# Of the demo that was played last on this machine (make demo ARGS=--once); needs Chromium.
screenshots: environment
	.venv/bin/python -m kb_pipeline_tests.screenshots

bench: environment
	.venv/bin/python benchmarks/extraction.py $(ARGS)
	.venv/bin/python benchmarks/judging.py $(ARGS)
	.venv/bin/python benchmarks/recording.py $(ARGS)
	.venv/bin/python benchmarks/recording_latency.py $(ARGS)
	.venv/bin/python benchmarks/harvest.py $(ARGS)
	.venv/bin/python benchmarks/export.py $(ARGS)
	.venv/bin/python benchmarks/evaluation.py $(ARGS)
	.venv/bin/python benchmarks/ground_truth.py $(ARGS)
	.venv/bin/python benchmarks/alert_simulation.py $(ARGS)
	.venv/bin/python benchmarks/dashboard.py $(ARGS)

environment:
	sh .ci/environment.sh 1>&2

clean:
	rm -rf .venv .bootstrap .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis dist
