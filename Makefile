# Every target does the set-up it needs by itself; `make help` lists them.

ROS    ?= jazzy
SCENE  ?= humanoid
VIEWER ?= web
ARGS   ?=
TESTS  ?=
INTERFACES ?=
PYTHON ?=
NAME   ?=
DIR    ?= .
SECONDS ?= 600
SEED   ?= $(shell date +%s)
FOLDER ?= soak
GPU    ?=

VENV := .venv$(if $(filter-out jazzy,$(ROS)),-$(ROS))
BIN  := $(VENV)/bin
# The virtual environment is complete: variables of a sourced environment would interfere with it.
# Without bytecode every process would compile all its imports, which takes a second or more.
RUN  := env -u PYTHONPATH -u PYTHONHOME -u AMENT_PREFIX_PATH -u CMAKE_PREFIX_PATH -u COLCON_PREFIX_PATH \
        -u LD_LIBRARY_PATH -u RMW_IMPLEMENTATION -u _ROS_WHEELS_BOOTSTRAP_COMPLETE \
        -u PYTHONDONTWRITEBYTECODE

# Another version of simulation_interfaces, before that of the distribution.
OTHER := $(CURDIR)/$(VENV)/simulation_interfaces-$(INTERFACES)
empty :=
LIBRARIES = $(subst $(empty) ,:,$(wildcard $(OTHER)/lib $(CURDIR)/$(VENV)/lib \
            $(CURDIR)/$(VENV)/lib/python3.*/site-packages/ros_*.libs))
RUN_TESTS = $(RUN) $(if $(INTERFACES),_ROS_WHEELS_BOOTSTRAP_COMPLETE=1 PYTHONPATH=$(OTHER)/python \
            AMENT_PREFIX_PATH=$(OTHER):$(CURDIR)/$(VENV) LD_LIBRARY_PATH=$(LIBRARIES))

.DEFAULT_GOAL := help
.PHONY: help setup sim extension plugin demo demo-check test test-programs chaos lint format bench soak train train-test training-environment lerobot pictures lock clean

help: ## show this help
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | awk -F '\t' '{printf "  make %-13s %s\n", $$1, $$2}'
	@printf '\n  ROS=%-11s ROS 2 distribution: jazzy or kilted, with one environment each\n' $(ROS)
	@printf '  SCENE=%-9s scene of `make sim`: a name, or the path of a scene or model file\n' $(SCENE)
	@printf '  VIEWER=%-8s viewer of `make sim` and `make demo`: web (a page), native (the page and a window) or none\n' $(VIEWER)
	@printf '  DEMO=%-10s controller of `make demo`: pick_place, handover, trot or walk_grasp\n' $(DEMO)
	@printf '  INTERFACES=     of `make test`: another version of simulation_interfaces, 2.1\n'
	@printf '  ARGS=           further arguments of `make sim`, `make demo`, `make test`, `make test-programs`, `make bench`, `make soak`, `make train` or `make train-test`\n'
	@printf '  TESTS=          tests of `make test`: files or folders, default all but the tests of `make test-programs`\n'
	@printf '  SECONDS=, SEED= duration and seed of `make chaos`\n'
	@printf '  NAME=, DIR=     of `make extension`: the new package and its folder, default here\n'
	@printf '  PLUGIN=         folder of `make plugin`, default examples/engine_plugin\n'
	@printf '  FOLDER=         results of `make soak`, default soak\n'
	@printf '  GPU=            packages of JAX of `make train` and `make train-test`, e.g. cuda13; default: the processor\n'
	@printf '  PYTHON=         Python of the environment, 3.11 or newer, default python3\n'

setup: ## install everything into a virtual environment
	@$(or $(PYTHON),python3) -m bootstrap --ros $(ROS) $(if $(PYTHON),--exact) $(MODELS) \
		$(if $(INTERFACES),--interfaces $(INTERFACES))

# tf:=all because PyPI has no robot_state_publisher to publish the links.
sim: setup ## run the simulator
	@exec $(RUN) $(BIN)/python -m mujoco_ros --ros-args -p "scene:=$(SCENE)" -p tf:=all -p viewer:=$(VIEWER) $(ARGS)

# The new package is built with what is installed: nothing is downloaded.
extension: setup ## start an extension: a package NAME in the folder DIR, installed and tested
	@$(RUN) $(BIN)/python -m mujoco_ros.cli.new_extension "$(NAME)" --folder "$(DIR)"
	@$(RUN) $(BIN)/python -m pip install --quiet --no-index --no-deps --no-build-isolation --editable "$(DIR)/$(NAME)"
	@cd "$(DIR)/$(NAME)" && $(RUN) $(CURDIR)/$(BIN)/python -m pytest -q -p no:cacheprovider

PLUGIN ?= examples/engine_plugin
plugin: FOLDER = $(subst $() $(),\ ,$(PLUGIN))
plugin: setup ## build the engine plugins in PLUGIN, with CMake
	@$(RUN) cmake -S $(FOLDER) -B $(FOLDER)/build -DPYTHON=$(CURDIR)/$(BIN)/python
	@$(RUN) cmake --build $(FOLDER)/build

# The scene and further arguments of each demo.
DEMO ?= pick_place
SCENE_pick_place := arm
ARGS_pick_place := --params-file config/controllers/pick_place_again.yaml
SCENE_handover := handover
SCENE_trot := quadruped
SCENE_walk_grasp := walk_grasp
demo: setup ## run the controller DEMO: pick_place, handover, trot or walk_grasp
	$(if $(SCENE_$(DEMO)),,$(error there is no demo '$(DEMO)'; there are: pick_place, handover, trot, walk_grasp))
	@exec $(RUN) $(BIN)/python -m mujoco_ros --ros-args -p scene:=$(SCENE_$(DEMO)) -p tf:=all -p viewer:=$(VIEWER) \
		-p controller:=$(DEMO) $(ARGS_$(DEMO)) $(ARGS)

demo-check: setup ## evaluate 20 pick and place episodes without a viewer
	@exec $(RUN) $(BIN)/python -m mujoco_ros.cli.evaluate pick_place --check $(ARGS)

# Tests of a file share processes, so they stay together and in order.
PYTEST = $(RUN_TESTS) $(BIN)/python -m pytest --numprocesses=auto --dist=loadfile --no-loadscope-reorder
# They run whole programs for minutes.
PROGRAMS := $(addprefix test/,chaos examples benchmark/measurements benchmark/soak)
test test-programs: MODELS := --models
test: setup ## run the tests, several files at a time
	@$(PYTEST) $(or $(TESTS),$(PROGRAMS:%=--ignore=%)) $(ARGS)

test-programs: setup ## test the examples, the benchmark, and a simulator under random attacks
	@$(PYTEST) $(PROGRAMS) $(ARGS)

chaos: setup ## attack a simulator at random for a time, and check what must always hold
	@CHAOS_SECONDS=$(SECONDS) CHAOS_SEED=$(SEED) $(RUN) $(BIN)/python -m pytest -s test/chaos/test_chaos.py $(ARGS)

lint: setup ## check style, types, XML and YAML
	@$(RUN) $(BIN)/ruff check --output-format concise .
	@$(RUN) $(BIN)/ruff format --check .
	@$(RUN) $(BIN)/mypy
	@$(RUN) $(BIN)/python .ci/check_files.py

format: setup ## format the Python files
	@$(RUN) $(BIN)/ruff check --fix --quiet . ; $(RUN) $(BIN)/ruff format .

bench: setup ## measure performance and compare it with the limits
	@$(RUN) $(BIN)/python -m benchmark $(ARGS)

soak: setup ## run for hours, and record what is dropped and what grows; resumes
	@$(RUN) $(BIN)/python -m benchmark.soak $(FOLDER) --resume $(ARGS)

# Its own environment: MJX needs its own version of MuJoCo.
TRAINING := .venv-train/bin/python
training-environment:
	@test -x $(TRAINING) || $(or $(PYTHON),python3) -m venv .venv-train
	@$(RUN) $(TRAINING) -m pip install --quiet --requirement requirements/training.txt \
		$(if $(GPU),--constraint requirements/training.txt "jax[$(GPU)]")

train: training-environment ## train the policy of the quadruped; with a graphics card GPU=cuda13
	@exec $(RUN) $(TRAINING) -m training $(ARGS)

# The set-up of the other tests needs ROS. The physics takes minutes to compile.
train-test: training-environment ## test the training, where brax and MJX are installed
	@$(RUN) $(TRAINING) -m pytest --noconftest --timeout=1800 test/training $(ARGS)

# Its own environment: LeRobot needs older versions of numpy and OpenCV than ROS, and PyTorch.
LEROBOT := .venv-lerobot/bin/python
lerobot: ## install LeRobot, for the datasets of `evaluate --dataset`; 8 GB
	@test -x $(LEROBOT) || $(or $(PYTHON),python3) -m venv .venv-lerobot
	@$(RUN) $(LEROBOT) -m pip install --quiet --requirement requirements/lerobot.txt

pictures: setup ## draw the figures of docs/
	@MUJOCO_GL=egl $(RUN) $(BIN)/python docs/figures.py $(ARGS)

lock: ## resolve requirements/*.in
	@$(or $(PYTHON),python3) requirements/lock.py

clean: ## remove the files of set-up and tests
	rm -rf .venv .venv-* examples/engine_plugin/build build install log .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
