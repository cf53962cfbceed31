# Every command sets itself up: a virtual environment in .venv, made again when the requirements change.
# It needs Python 3.11 or newer, git and make. Name a Python with: make book PYTHON=/path/to/python

# A version that the tests run on, if there is one; else the first that is new enough.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	"$$p" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && { echo "$$p"; exit; }; \
	done; echo python3)
RUN    := .venv/bin/python
PORT   ?= 8000
SETUP   = @command -v "$(PYTHON)" >/dev/null || { echo "There is no $(PYTHON) here. Install Python 3.11 or newer: \
	https://www.python.org/downloads/"; exit 1; }; "$(PYTHON)" tools/environment.py

# What a reader has set up for their own notebooks must not change ours.
unexport PYTHONPATH PYTHONHOME MPLBACKEND
export IPYTHONDIR              := $(CURDIR)/.venv/ipython
export MPLCONFIGDIR            := $(CURDIR)/.venv/matplotlib
export JUPYTER_PREFER_ENV_PATH := 1
export PYDEVD_DISABLE_FILE_VALIDATION := 1
# The matrices are small and the tests have one worker a core: more threads in each would get in each other's way.
export OPENBLAS_NUM_THREADS := 1

.DEFAULT_GOAL := help
.PHONY: help book serve test test-library run numbers site offline links lighthouse clean

help:
	@echo 'make book              build the pages from the stored outputs, and say where they are'
	@echo 'make serve             build them and show them at http://127.0.0.1:8000/ (another port: PORT=8001)'
	@echo 'make test              check everything: library, numbers, chapters, pages'
	@echo 'make run               run every chapter again and store its outputs'
	@echo 'make run CHAPTER=02    run one'
	@echo 'make numbers CHAPTER=02  enter the numbers of its prose a second time, after reading them against the cells'
	@echo 'make site              make exactly what is published, in dist/site'
	@echo 'make offline           make that, and a zip of it that reads from a disk'
	@echo 'make links             make that, and visit every link that leaves the book (needs a network)'
	@echo 'make lighthouse        measure every page as a phone and as a computer see it (needs Node and Chromium)'
	@echo 'make clean             remove what was built (the environment too: rm -r .venv)'
	@echo
	@echo 'Each sets up what it needs in .venv, with Python 3.11 or newer (another one: PYTHON=python3.13).'

book:
	$(SETUP) requirements.txt
	@$(RUN) tools/book.py

serve:
	$(SETUP) requirements.txt
	@$(RUN) tools/book.py --serve --port $(PORT)

# One worker a core. A chapter's cells stay together and in order (loadscope). Files go out as they are listed, chapters
# and browsers first: by the number of their tests, the few slow ones would come at the end. pyproject.toml has the rest.
test:
	$(SETUP) requirements-test.txt
	@$(RUN) -m pytest -n logical --dist loadscope --no-loadscope-reorder

# The library alone, with another NumPy and in an environment of its own: make test-library NUMPY="==2.1.0"
test-library:
	"$(PYTHON)" -m venv --clear .venv-numpy
	.venv-numpy/bin/python -m pip install --quiet -r requirements-test.txt
	.venv-numpy/bin/python -m pip install --quiet --upgrade "numpy$(NUMPY)"
	.venv-numpy/bin/python -m pytest attention_lib tests --ignore=tests/site --ignore=tests/sharing --ignore=tests/test_book.py

run:
	$(SETUP) requirements.txt
	@$(RUN) tools/notebooks.py $(CHAPTER)

numbers:
	$(SETUP) requirements.txt
	@$(RUN) tests/prose_numbers.py $(CHAPTER)

site:
	$(SETUP) requirements.txt
	@$(RUN) tools/publish.py

offline:
	$(SETUP) requirements.txt
	@$(RUN) tools/publish.py --offline

links: site
	@$(RUN) tools/links.py --external dist/site

lighthouse:
	$(SETUP) requirements-test.txt
	@$(RUN) tools/book.py
	@$(RUN) benchmarks/lighthouse.py

clean:
	rm -rf _build build dist .pytest_cache .hypothesis
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
