# Two commands do all their own set-up: `make serve` and `make test`.
PYTHON ?= python3.11
SET ?= cpu
DEVICE ?= cpu
ARGS ?=

FAST := not vllm and not training and not browser and not operations and not ecosystem

.PHONY: requirements base-digest sbom help serve test check lint types docs fast page slow bench soak dist e2e-smoke train-embedded calibrate-embedded evaluate-embedded ecosystem setup-dev clean

help: ## list the commands
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

serve: ## answer questions on this machine; ARGS="--port 9000 --model DIR", SET=gpu on a GPU
	@scripts/setup $(SET) $(PYTHON)
	@.venv/bin/demur serve $(ARGS)

test: check slow ## everything a machine without a GPU can run

check: lint types docs fast ## lint, types, documentation and fast tests

setup-dev:
	@scripts/setup dev $(PYTHON)

lint: setup-dev
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .

types: setup-dev
	.venv/bin/pyright --pythonpath .venv/bin/python

docs: setup-dev ## build the documentation site into site/, offline; a dead link is an error
	NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --strict --quiet

fast: setup-dev
	.venv/bin/pytest -n logical --maxprocesses 8 --dist loadfile -m "$(FAST)" $(ARGS)

page: setup-dev ## check the types of the page's modules, and lint them
	@scripts/setup-browser
	@scripts/check-page

# Apart, because the browser's driver keeps an event loop running that asyncio would not share.
slow: setup-dev
	@scripts/setup-browser
	@scripts/setup-operations
	.venv/bin/pytest -m "vllm and not browser" $(ARGS)
	.venv/bin/pytest -m training $(ARGS)
	.venv/bin/pytest -m browser $(ARGS)
	.venv/bin/pytest -m operations $(ARGS)
	@scripts/setup-ecosystem
	.venv/bin/pytest -m "ecosystem and not more_clients" $(ARGS)

ecosystem: setup-dev ## today's clients against the server: those of `make test`, and more
	@scripts/setup-ecosystem more
	.venv/bin/pytest -m ecosystem $(ARGS)

bench: setup-dev ## measure: our server against bare vLLM, the reader, selection, metrics
	.venv/bin/python -m bench $(ARGS)

soak: setup-dev ## break the server on purpose; ARGS="--only streams --seconds 20"
	.venv/bin/python -m bench soak $(ARGS)

e2e-smoke: setup-dev ## real PPO on a CPU: train, kill, resume, export, serve, evaluate; says how it went
	.venv/bin/demur-train e2e-smoke runs/e2e-smoke $(ARGS)

train-embedded: setup-dev ## make the small model from nothing; DEVICE=cuda on a GPU; safe to kill; says how long it takes
	.venv/bin/demur-smol-lab run --out runs/embedded --yes --device $(DEVICE) $(ARGS)
	for table in familiar test adjacent transfer; do \
	    .venv/bin/demur-smol-lab measure --out runs/embedded --device $(DEVICE) --split $$table || exit; done
	.venv/bin/demur-smol-lab export --out runs/embedded --to server/demur/model/demur_smol

calibrate-embedded: setup-dev ## find out what error rates the embedded model can promise, and whether it keeps them; an hour and a half
	@scripts/calibrate-embedded runs/calibration

evaluate-embedded: setup-dev ## evaluate what ships over HTTP; GSM8K=FILE TRIVIAQA=FILE SIMPLEQA=FILE without a hub
	@scripts/evaluate-embedded runs/evaluation

.PHONY: dist
dist: setup-dev ## wheels of demur, demur-client, demur-smol (the weights) and demur-training in dist/
	@scripts/build-distributions dist

requirements: setup-dev ## pin what is installed, with hashes; ARGS="--upgrade-package NAME"
	scripts/compile-requirements $(ARGS)

base-digest: ## the image that the Dockerfile builds on, as it is today
	@docker buildx imagetools inspect python:3.11-slim-bookworm --format '--build-arg BASE=python@{{.Manifest.Digest}}'

sbom: ## dist/sbom-SET.json, a CycloneDX list of what a set installs; SET=gpu
	@scripts/setup cpu $(PYTHON)
	@mkdir -p dist
	.venv/bin/uv tool run --from cyclonedx-bom==7.5.0 cyclonedx-py requirements --pyproject pyproject.toml \
	    --output-reproducible --output-file dist/sbom-$(SET).json requirements/$(SET).txt

clean: ## remove the environment and what tools left behind
	rm -rf .venv .ecosystem .pytest_cache .ruff_cache .hypothesis site
