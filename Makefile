# Every target does the set-up it needs by itself; `make help` lists them.

ROS    ?= jazzy
SCENE  ?= humanoid
VIEWER ?= web
ARGS   ?=
TESTS  ?=
PYTHON ?=

VENV := .venv$(if $(filter-out jazzy,$(ROS)),-$(ROS))
BIN  := $(VENV)/bin
# The virtual environment is complete; whatever else is sourced in this shell would only mix into it.
# Without bytecode every process would compile all that it imports, at a second or more each.
RUN  := env -u PYTHONPATH -u PYTHONHOME -u AMENT_PREFIX_PATH -u CMAKE_PREFIX_PATH -u COLCON_PREFIX_PATH \
        -u LD_LIBRARY_PATH -u RMW_IMPLEMENTATION -u _ROS_WHEELS_BOOTSTRAP_COMPLETE \
        -u PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup sim demo demo-check test lint format bench pictures lock clean

help: ## show this help
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | awk -F '\t' '{printf "  make %-10s %s\n", $$1, $$2}'
	@printf '\n  ROS=%-11s ROS 2 distribution: jazzy or kilted, each in an environment of its own\n' $(ROS)
	@printf '  SCENE=%-9s scene of `make sim`: a name, or the path of a scene or model file\n' $(SCENE)
	@printf '  VIEWER=%-8s how `make sim` shows it: web (a page), native (a window) or none\n' $(VIEWER)
	@printf '  ARGS=           more arguments of `make sim`, `make test` or `make bench`\n'
	@printf '  TESTS=          what `make test` runs: files or folders, default all\n'
	@printf '  PYTHON=         interpreter to set up with, 3.11 or newer, default python3\n'

setup: ## install everything into a virtual environment
	@$(or $(PYTHON),python3) -m bootstrap --ros $(ROS) $(if $(PYTHON),--exact)

# Nobody publishes the links here: PyPI has no robot_state_publisher.
sim: setup ## run the simulator
	@exec $(RUN) $(BIN)/python -m mujoco_ros --ros-args -p "scene:=$(SCENE)" -p tf:=all -p viewer:=$(VIEWER) $(ARGS)

AGAIN := config/controllers/pick_place_again.yaml
demo: setup ## watch an arm bring a box to and fro
	@exec $(RUN) $(BIN)/python -m mujoco_ros --ros-args -p scene:=arm -p tf:=all -p viewer:=$(VIEWER) \
		-p controller:=pick_place --params-file $(AGAIN) $(ARGS)

demo-check: setup ## have the arm pick and place 20 times without a window, and judge it
	@exec $(RUN) $(BIN)/python -m mujoco_ros.cli.evaluate pick_place --check $(ARGS)

# A file's tests share what they start, so they stay together and in order.
test: setup ## run the tests, several files at a time
	@$(RUN) $(BIN)/python -m pytest --numprocesses=auto --dist=loadfile --no-loadscope-reorder $(TESTS) $(ARGS)

lint: setup ## check style, types, XML and YAML
	@$(RUN) $(BIN)/ruff check --output-format concise .
	@$(RUN) $(BIN)/ruff format --check .
	@$(RUN) $(BIN)/mypy
	@$(RUN) $(BIN)/python .ci/check_files.py

format: setup ## format the Python files
	@$(RUN) $(BIN)/ruff check --fix --quiet . ; $(RUN) $(BIN)/ruff format .

bench: setup ## measure, and compare with the limits
	@$(RUN) $(BIN)/python -m benchmark $(ARGS)

pictures: setup ## draw the figures of docs/
	@MUJOCO_GL=egl $(RUN) $(BIN)/python docs/figures.py $(ARGS)

lock: ## resolve requirements/*.in anew
	@$(or $(PYTHON),python3) requirements/lock.py

clean: ## remove what the set-up and the tests made
	rm -rf .venv .venv-* build install log .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
