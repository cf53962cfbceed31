# Every command sets itself up: a virtual environment in .venv, made again when the requirements change.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help book serve test run clean
