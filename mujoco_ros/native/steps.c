// Steps of a simulation: references to controls, the engine's step, sample, messages, shared memory.
//
// Python runs what is written in Python: `run` returns when something there is to be done.
// sim/simulation.py has the same steps in Python, with the same results.

#include "plan.h"

#if __has_include(<mujoco/mujoco.h>)
#include <math.h>
#include <mujoco/mujoco.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

const long ENGINE_VERSION = mjVERSION_HEADER;

// What `run` returns for: nothing more, or what Python does next.
enum { TAKEN, UNSOLVED, WARNED, PUBLISH, IN_PYTHON };
// Numbers of the settings and of the pace, which Python may change between two calls.
enum { ORIGIN, TIMESTEP, LAST_TIME, IS_AFFECTED, SMALL, LIMIT };
enum { DUE, PERIOD, CATCH_UP, DROPPED, LAG, LATE, LAST };
static const double LARGEST_CTRL = 1e9;  // as drives.py
static const double QUADRATIC = 0.03;    // as sparse_newton.py
static const double LONGEST_SLEEP_S = 0.01, LONGEST_RUN_S = 0.02;

// ---- rows of the tables -------------------------------------------------------------------------

typedef struct {
  mjModel *model;
  mjData *data;
  double *settings, *time;
  int64_t *seen;  // numbers of the warnings that Python has handled
  double *present, *sample;
  int64_t state_size, components;  // of the state: bytes, and bits of mjtState
  int64_t joints;                  // fewest columns of references
  void (*step)(const mjModel *, mjData *);
  void (*get_state)(const mjModel *, const mjData *, mjtNum *, int);
  mjfLogHandler (*set_log_handler)(mjfLogHandler);
  void (*negate)(mjtNum[4], const mjtNum[4]);
  void (*rotate)(mjtNum[3], const mjtNum[3], const mjtNum[4]);
  void (*to_quat)(mjtNum[4], const mjtNum[9]);
  void (*multiply)(mjtNum[4], const mjtNum[4], const mjtNum[4]);
  void (*negate_pose)(mjtNum[3], mjtNum[4], const mjtNum[3], const mjtNum[4]);
  void (*multiply_pose)(mjtNum[3], mjtNum[4], const mjtNum[3], const mjtNum[4], const mjtNum[3],
                        const mjtNum[4]);
  void (*cross)(mjtNum[3], const mjtNum[3], const mjtNum[3]);
  void (*velocity)(const mjModel *, const mjData *, int, int, mjtNum[6], int);
} Engine;
typedef struct {  // a control that follows the references of a joint
  double *control;
  int64_t joint;
  const double *factors, *offset;
} Input;
typedef struct {  // references of a stream that ramp, as in control/streams.py
  const double *line;  // whether it ramps, whether by one line; its begin, rate and end
  double *references;
  int64_t stride, rows, columns;  // of references
  const mjtBool *owned;           // of each column
  const double *target, *distance, *begin, *rate;
} Ramp;
enum { IS_RAMPING, IS_COMMON, BEGIN, RATE, UNTIL };
typedef struct {  // what is counted when it is at its limit
  const double *force, *range;
  const mjtBool *is_limited;  // NULL: always
  int64_t *steps;
} Limited;
typedef struct {  // topics that are published at the same steps
  int64_t every;
  Messages *messages;       // NULL: Python publishes them
  const int64_t *is_ready;  // whether its arrays have what Python computes for a run; NULL: always
  int64_t first, count;     // of its numbers of subscriptions
  int64_t update, updates;  // the first one and how many
} Group;
typedef struct {
  Messages *messages;
  int64_t every, is_last;
} Clock;
typedef struct {  // an update of a derived array
  int64_t *sample;  // number of the last one that it was made for
  int64_t kind;
  const double *a, *b, *c, *d;
  double *to;
  int64_t count;
} Update;
enum { ROTATE, RELATE, FACE, COPY, MARK, SUBTRACT, SUBTRACT_ANGLE, ADD, MOVE, CARRY };
typedef struct {  // a row of shared memory
  double *time;
  int64_t first, count;  // of its pieces
} Row;
typedef struct {
  void *to;
  const void *from;
  int64_t size;
} Piece;
typedef struct {
  double *pace;
  volatile const int64_t *attention;
  int64_t *periods, last_period, *costs, last_cost;  // counts by microseconds
  int64_t *trace, most_traced;  // for measurements: a number of rows, then times of each step
} Run;

enum { ENGINE, INPUTS, LIMITS, RAMPS, GROUPS, CLOCK, UPDATES, SUBSCRIPTIONS, COUNTER, ROWS, PIECES,
       TABLES };
static const size_t SIZES[TABLES] = {
    sizeof(Engine), sizeof(Input),  sizeof(Limited),   sizeof(Ramp),      sizeof(Group),
    sizeof(Clock),  sizeof(Update), sizeof(int64_t *), sizeof(int64_t *), sizeof(Row),
    sizeof(Piece)};

typedef struct {
  PyObject_HEAD
  PyObject *on_warning;
  double begun;    // simulated time of the present step
  int64_t sample;  // number of samples whose messages were due
  char error[2 * sizeof(((mjLogMessage *)0)->subject)];
  Table tables[TABLES];
} Steps;

#define ENGINE_OF(self) ((const Engine *)(self)->tables[ENGINE].rows)

static void destroy(Steps *self) {
  release_tables(self->tables, TABLES);
  Py_XDECREF(self->on_warning);
  free_object((PyObject *)self);
}

// Replace tables, from `first` up to `end`, by those in a tuple.
static int take(Steps *self, int first, int end, PyObject *tables) {
  return take_tables(self->tables + first, SIZES + first, end - first, tables);
}

static PyObject *create(PyTypeObject *type, PyObject *arguments, PyObject *Py_UNUSED(keywords)) {
  PyObject *on_warning, *tables;
  if (!PyArg_ParseTuple(arguments, "OO!", &on_warning, &PyTuple_Type, &tables)) return NULL;
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  Steps *self = (Steps *)allocate(type, 0);
  if (self == NULL) return NULL;
  self->on_warning = Py_NewRef(on_warning);
  if (take(self, ENGINE, GROUPS, tables) < 0) Py_CLEAR(self);
  return (PyObject *)self;
}

static PyObject *set_topics(Steps *self, PyObject *tables) {
  return take(self, GROUPS, COUNTER, tables) < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *set_sharing(Steps *self, PyObject *tables) {
  return take(self, COUNTER, TABLES, tables) < 0 ? NULL : Py_NewRef(Py_None);
}

// ---- a step -------------------------------------------------------------------------------------

typedef struct {
  jmp_buf escape;
  Steps *steps;
} Call;
static __thread Call *call;  // the innermost one: a hook may step another simulation

// Handle messages of the engine: escape from an error, and pass a warning to Python.
static void handle_log(const mjLogMessage *message) {
  if (message->level == mjLOG_ERROR) {
    Steps *steps = call->steps;  // the text is as of the engine's bindings
    const char *function = message->func ? message->func : "", *colon = *function ? ": " : "";
    snprintf(steps->error, sizeof steps->error, "%s%s%s", function, colon, message->subject);
    longjmp(call->escape, 1);
  }
  if (message->level != mjLOG_WARNING) return;
  PyGILState_STATE state = PyGILState_Ensure();
  PyObject *result = PyObject_CallFunction(call->steps->on_warning, "s", message->subject);
  if (result == NULL) PyErr_WriteUnraisable(call->steps->on_warning);
  Py_XDECREF(result);
  PyGILState_Release(state);
}

// Advance the engine; return whether it reported an error, which is in `self->error`.
static int step_engine(Steps *self) {
  const Engine *engine = ENGINE_OF(self);
  Call own, *outer = call;
  own.steps = self;
  call = &own;
  mjfLogHandler before = engine->set_log_handler(handle_log);
  int failed = setjmp(own.escape);
  if (!failed) engine->step(engine->model, engine->data);
  engine->set_log_handler(before);
  call = outer;
  return failed;
}

// Write the controls of references, as `Drives.write` does. Its products of three by three numbers
// are rounded once for each sum, which fma repeats.
static void write_controls(const Steps *self, const double *references, Py_ssize_t joints) {
  const Table *inputs = &self->tables[INPUTS];
  for (Py_ssize_t i = 0; i < inputs->count; i++) {
    const Input *input = (Input *)inputs->rows + i;
    const double *reference = references + input->joint;
    double control = fma(input->factors[0], reference[0], 0.0);
    control = fma(input->factors[1], reference[joints], control);
    control = fma(input->factors[2], reference[2 * joints], control);
    control += *input->offset;
    if (control < -LARGEST_CTRL) control = -LARGEST_CTRL;
    if (control > LARGEST_CTRL) control = LARGEST_CTRL;
    *input->control = control;
  }
}

// Write the references of streams, as `Stream.update` does.
static void follow_ramps(const Steps *self, double time) {
  const Table *ramps = &self->tables[RAMPS];
  for (Py_ssize_t i = 0; i < ramps->count; i++) {
    const Ramp *ramp = (Ramp *)ramps->rows + i;
    const double *line = ramp->line;
    if (!line[IS_RAMPING]) continue;
    for (int64_t at = 0; at < ramp->rows * ramp->columns; at++) {
      int64_t row = at / ramp->columns, column = at % ramp->columns;
      if (!ramp->owned[column]) continue;
      double begin = line[IS_COMMON] ? line[BEGIN] : ramp->begin[at];
      double rate = line[IS_COMMON] ? line[RATE] : ramp->rate[at];
      double done = fmin((time - begin) * rate, 1.0);
      double left = time >= line[UNTIL] ? 0.0 : ramp->distance[at] * (1.0 - done);
      ramp->references[row * ramp->stride + column] = ramp->target[at] - left;
    }
  }
}

// Return whether the solver has converged beyond doubt, as the first part of `_is_solved`.
static int is_solved(const mjData *data, const double *settings) {
  int islands = data->nisland ? data->nisland : 1;
  for (int i = 0; i < islands && i < mjNISLAND; i++) {
    int count = data->solver_niter[i];
    if (count >= settings[LIMIT] || count > mjNSOLVER) return 0;
    const mjSolverStat *last = data->solver + i * mjNSOLVER + count - 1;
    if (count && last->gradient > settings[SMALL]) {
      double before = count > 1 ? last[-1].gradient : 0.0;
      if (last->gradient > QUADRATIC * before) return 0;
    }
  }
  return islands <= mjNISLAND;
}

// Count what is at its limit, and take the sample.
static void complete(const Steps *self) {
  const Table *limits = &self->tables[LIMITS];
  for (Py_ssize_t i = 0; i < limits->count; i++) {
    const Limited *limited = (Limited *)limits->rows + i;
    int is_limited = limited->is_limited == NULL || *limited->is_limited;
    double force = *limited->force;
    if (is_limited && (force <= limited->range[0] || force >= limited->range[1])) ++*limited->steps;
  }
  const Engine *engine = ENGINE_OF(self);
  memcpy(engine->sample, engine->present, (size_t)engine->state_size);
  double origin = engine->settings[ORIGIN], timestep = engine->settings[TIMESTEP];
  *engine->time = self->begun;
  // The engine sums timesteps; the rounding errors would show in stamps after minutes.
  engine->data->time = origin + rint((self->begun + timestep - origin) / timestep) * timestep;
}

static int finish(const Steps *self) {
  const Engine *engine = ENGINE_OF(self);
  for (int i = 0; i < mjNWARNING; i++)
    if (engine->data->warning[i].number != engine->seen[i]) return WARNED;
  complete(self);
  return TAKEN;
}

// Advance by one timestep; return what Python does next, or -1 after an error of the engine.
static int advance(Steps *self, const double *references, Py_ssize_t joints) {
  const Engine *engine = ENGINE_OF(self);
  self->begun = engine->data->time;
  if (self->begun >= engine->settings[LAST_TIME]) return IN_PYTHON;
  write_controls(self, references, joints);
  engine->get_state(engine->model, engine->data, engine->present, (int)engine->components);
  if (step_engine(self)) return -1;
  if (engine->settings[IS_AFFECTED] && engine->data->nefc &&
      !is_solved(engine->data, engine->settings))
    return UNSOLVED;
  return finish(self);
}

// ---- messages and shared memory -----------------------------------------------------------------

static void cross(double to[3], const double a[3], const double b[3]) {
  to[0] = a[1] * b[2] - a[2] * b[1];
  to[1] = a[2] * b[0] - a[0] * b[2];
  to[2] = a[0] * b[1] - a[1] * b[0];
}

// Pose (b[0]: position, d: quaternion) of a body in the frame of another one, as `RelativePoses`.
static void relate(const Update *update) {
  const double *parent = update->a, *turned = update->b, *child = update->c, *quat = update->d;
  double w = turned[0], v[3], offset[3], turn[3], twice[3];
  for (int i = 0; i < 3; i++) v[i] = -turned[1 + i], offset[i] = child[i] - parent[i];
  cross(turn, v, offset);
  for (int i = 0; i < 3; i++) turn[i] *= 2.0;
  cross(twice, v, turn);
  for (int i = 0; i < 3; i++) update->to[i] = offset[i] + w * turn[i] + twice[i];
  update->to[3] = w * quat[0] - (v[0] * quat[1] + v[1] * quat[2] + v[2] * quat[3]);
  cross(twice, v, quat + 1);
  for (int i = 0; i < 3; i++) update->to[4 + i] = w * quat[1 + i] + quat[0] * v[i] + twice[i];
}

// Pose and velocity of a frame (c, d: its pose in a body with pose a, b), as `FrameMotions`.
static void move(const Engine *engine, const Update *update) {
  double *to = update->to, *linear = to + 10, offset[3], turn[3];
  engine->multiply_pose(to, to + 3, update->a, update->b, update->c, update->d);
  engine->velocity(engine->model, engine->data, mjOBJ_XBODY, (int)update->count, to + 7, 0);
  for (int i = 0; i < 3; i++) offset[i] = to[i] - update->a[i];
  engine->cross(turn, to + 7, offset);
  for (int i = 0; i < 3; i++) linear[i] += turn[i];
}

// Motion (pose, linear and angular velocity) of a frame relative to another one, both of `move`.
static void carry(const Engine *engine, const Update *update) {
  const double *frame = update->a, *base = update->b;
  double *to = update->to, inverse[7], offset[3], turn[3];
  engine->negate_pose(inverse, inverse + 3, base, base + 3);
  engine->multiply_pose(to, to + 3, inverse, inverse + 3, frame, frame + 3);
  for (int i = 0; i < 3; i++) offset[i] = frame[i] - base[i];
  engine->cross(turn, base + 7, offset);
  for (int i = 0; i < 3; i++) turn[i] += base[10 + i];
  for (int i = 0; i < 3; i++) offset[i] = frame[10 + i] - turn[i];
  engine->rotate(to + 7, offset, inverse + 3);
  for (int i = 0; i < 3; i++) offset[i] = frame[7 + i] - base[7 + i];
  engine->rotate(to + 10, offset, inverse + 3);
}

// Difference of angles in [-pi, pi), with the remainder that NumPy computes.
static double wrap(double difference) {
  double turn = 2 * 3.141592653589793, rest = fmod(difference + turn / 2, turn);
  if (rest < 0.0) rest += turn;
  return (rest == 0.0 ? 0.0 : rest) - turn / 2;
}

static void compute(const Engine *engine, const Update *update) {
  double quat[4];
  switch (update->kind) {
    case ROTATE:
      engine->negate(quat, update->a);
      engine->rotate(update->to, update->b, quat);
      break;
    case RELATE:
      relate(update);
      break;
    case FACE:
      memcpy(update->to, update->a, 3 * sizeof(double));
      engine->to_quat(quat, update->b);
      engine->multiply(update->to + 3, quat, update->c);
      break;
    case COPY:
      memcpy(update->to, update->a, (size_t)update->count * sizeof(double));
      break;
    case MARK:
      if (*update->to < 0 || *update->to >= *update->a) *update->to = INFINITY;
      break;
    case SUBTRACT:
    case SUBTRACT_ANGLE:
      *update->to = *update->a - *update->b;
      if (update->kind == SUBTRACT_ANGLE) *update->to = wrap(*update->to);
      break;
    case ADD:
      for (int64_t i = 0; i < update->count; i++) update->to[i] = update->a[i] + update->b[i];
      break;
    case MOVE:
      move(engine, update);
      break;
    case CARRY:
      carry(engine, update);
      break;
  }
}

static int is_wanted(const Steps *self, const Group *group) {
  const int64_t *const *numbers = self->tables[SUBSCRIPTIONS].rows;
  for (int64_t i = 0; i < group->count; i++)
    if (*numbers[group->first + i]) return 1;
  return 0;
}

// Send messages; return what Python does next.
static int send(Messages *messages, int64_t nanoseconds, int sending) {
  if (!fill_messages(messages, nanoseconds)) return PUBLISH;
  send_messages(messages, sending);
  return TAKEN;
}

// Send the messages that are due, as `Publishers.publish`; return what Python does next.
static int publish(Steps *self, int sending) {
  const Engine *engine = ENGINE_OF(self);
  const Group *groups = self->tables[GROUPS].rows, *end = groups + self->tables[GROUPS].count;
  const Clock *clock = self->tables[CLOCK].rows;
  const Update *updates = self->tables[UPDATES].rows;
  if (clock == NULL) return TAKEN;  // nothing is published
  double time = *engine->time, steps = time - engine->settings[ORIGIN];
  int64_t number = (int64_t)rint(steps / engine->settings[TIMESTEP]);
  int64_t nanoseconds = (int64_t)rint(time * 1e9);
  int is_due = 0, outcome = TAKEN;
  for (const Group *group = groups; group < end; group++) {
    if (number % group->every) continue;
    is_due = 1;
    int is_ready = group->messages != NULL && (group->is_ready == NULL || *group->is_ready);
    if (!is_ready && is_wanted(self, group)) return PUBLISH;
  }
  int has_clock = clock->every ? number % clock->every == 0 : is_due;
  ++self->sample;
  if (has_clock && !clock->is_last) outcome = send(clock->messages, nanoseconds, sending);
  for (const Group *group = groups; group < end && outcome == TAKEN; group++) {
    if (number % group->every || group->messages == NULL || !is_wanted(self, group)) continue;
    for (int64_t i = group->update; i < group->update + group->updates; i++) {
      if (*updates[i].sample == self->sample) continue;  // another group needs it, too
      compute(engine, updates + i);
      *updates[i].sample = self->sample;
    }
    outcome = send(group->messages, nanoseconds, sending);
  }
  if (has_clock && clock->is_last && outcome == TAKEN)
    outcome = send(clock->messages, nanoseconds, sending);
  if (has_clock || is_due) wake_sender();
  return outcome;
}

// Write the next row of the shared memory, as `SharedStateWriter`.
static void share(const Steps *self) {
  if (!self->tables[ROWS].count) return;
  volatile int64_t *counter = *(int64_t **)self->tables[COUNTER].rows;
  int64_t count = *counter + 1;
  const Row *row = (Row *)self->tables[ROWS].rows + count % self->tables[ROWS].count;
  const Piece *pieces = (Piece *)self->tables[PIECES].rows + row->first;
  atomic_thread_fence(memory_order_release);  // a reader of this row sees the counter first
  *row->time = *ENGINE_OF(self)->time;
  for (int64_t i = 0; i < row->count; i++)
    memcpy(pieces[i].to, pieces[i].from, (size_t)pieces[i].size);
  atomic_thread_fence(memory_order_release);
  *counter = count;
}

// ---- steps in real time -------------------------------------------------------------------------

static void sleep_for(double seconds) {
  if (seconds > LONGEST_SLEEP_S) seconds = LONGEST_SLEEP_S;
  struct timespec time = {0, (long)(seconds * 1e9)};
  nanosleep(&time, NULL);
}

static void count_duration(int64_t *counts, int64_t last, double seconds) {
  int64_t index = (int64_t)(seconds * 1e6);
  ++counts[index >= 0 && index < last ? index : last];
}

// Return how long the next step has to wait [s], or register its start, as `Pacer` does.
static double wait_for_step(double *pace, double time) {
  if (!pace[PERIOD]) {
    pace[LAG] = 0.0;
    return 0.0;
  }
  if (isnan(pace[DUE])) pace[DUE] = time;
  if (pace[DUE] > time) return pace[DUE] - time;
  pace[LAG] = time - pace[DUE];
  if (pace[LAG] >= pace[PERIOD]) pace[LATE] += 1.0;
  if (pace[LAG] > pace[CATCH_UP]) {
    pace[DROPPED] += pace[LAG] - pace[CATCH_UP];
    pace[DUE] = time - pace[CATCH_UP];
  }
  pace[DUE] += pace[PERIOD];
  return 0.0;
}

static int64_t nanoseconds(double seconds) { return (int64_t)rint(seconds * 1e9); }

static void trace(const Run *run, double stamp, const double times[4]) {
  if (run->trace == NULL || *run->trace >= run->most_traced) return;
  const int64_t row[] = {nanoseconds(times[0]), nanoseconds(times[1]),     nanoseconds(times[2]),
                         nanoseconds(stamp),    (int64_t)run->pace[LATE], nanoseconds(times[3])};
  memcpy((int64_t(*)[6])(run->trace + 1) + (*run->trace)++, row, sizeof row);
}

static int run_steps(Steps *self, const Run *run, const double *references, Py_ssize_t joints,
                     int ramps, int64_t most, int64_t *steps) {
  double begun = wall_time(), dropped = run->pace[DROPPED];
  int outcome = TAKEN, is_next_due = 0;
  while (*steps < most && !*run->attention && outcome == TAKEN) {
    double times[4] = {wall_time()};
    // Python checks from time to time what changes without a command, while no step is due.
    if ((times[0] - begun > LONGEST_RUN_S && !is_next_due) || run->pace[DROPPED] != dropped) break;
    double delay = wait_for_step(run->pace, times[0]);
    if (delay > 0.0) {
      sleep_for(delay);
      is_next_due = delay <= LONGEST_SLEEP_S;
      continue;
    }
    is_next_due = 0;
    count_duration(run->periods, run->last_period, times[0] - run->pace[LAST]);
    run->pace[LAST] = times[0];
    if (ramps) follow_ramps(self, ENGINE_OF(self)->data->time);
    outcome = advance(self, references, joints);
    times[1] = wall_time();
    if (outcome == TAKEN) outcome = publish(self, run->pace[PERIOD] ? IN_TIME : WAITING);
    times[2] = times[3] = wall_time();
    if (outcome == TAKEN) {
      share(self);
      ++*steps;
      times[3] = wall_time();
      count_duration(run->costs, run->last_cost, times[3] - times[0]);
    }
    if (outcome == TAKEN || outcome == PUBLISH) trace(run, *ENGINE_OF(self)->time, times);
  }
  return outcome;
}

// Take the references, three numbers for each joint.
static int take_references(const Steps *self, PyObject *array, Table *references) {
  if (take_table(references, array, 3 * sizeof(double)) < 0) return -1;
  if (references->count >= ENGINE_OF(self)->joints) return 0;
  PyErr_SetString(PyExc_ValueError, "references are three numbers for each joint");
  release_tables(references, 1);
  return -1;
}

static PyObject *fail(const Steps *self) {
  PyErr_SetString(PyExc_RuntimeError, self->error);
  return NULL;
}

static PyObject *run_method(Steps *self, PyObject *arguments) {
  PyObject *array, *row;
  long long most;
  int ramps, outcome = -1;
  int64_t steps = 0;
  Table run, references;
  if (!PyArg_ParseTuple(arguments, "OLOp", &array, &most, &row, &ramps) ||
      take_references(self, array, &references) < 0)
    return NULL;
  int fails = take_table(&run, row, sizeof(Run));
  if (!fails) {
    PyThreadState *thread = PyEval_SaveThread();
    outcome = run_steps(self, run.rows, references.rows, references.count, ramps, most, &steps);
    PyEval_RestoreThread(thread);
    release_tables(&run, 1);
  }
  release_tables(&references, 1);
  if (outcome >= 0) return Py_BuildValue("iL", outcome, (long long)steps);
  return fails ? NULL : fail(self);
}

static PyObject *step_method(Steps *self, PyObject *arguments) {
  PyObject *array;
  long long most;
  int ramps, outcome = TAKEN;
  int64_t steps = 0;
  Table references;
  if (!PyArg_ParseTuple(arguments, "OLp", &array, &most, &ramps) ||
      take_references(self, array, &references) < 0)
    return NULL;
  PyThreadState *thread = PyEval_SaveThread();
  while (steps < most && outcome == TAKEN) {
    if (ramps) follow_ramps(self, ENGINE_OF(self)->data->time);
    outcome = advance(self, references.rows, references.count);
    steps += outcome == TAKEN;
  }
  PyEval_RestoreThread(thread);
  release_tables(&references, 1);
  return outcome < 0 ? fail(self) : Py_BuildValue("iL", outcome, (long long)steps);
}

static PyObject *finish_method(Steps *self, PyObject *Py_UNUSED(none)) {
  return PyLong_FromLong(finish(self));
}

static PyMethodDef METHODS[] = {
    {"set_topics", (PyCFunction)set_topics, METH_VARARGS, NULL},
    {"set_sharing", (PyCFunction)set_sharing, METH_VARARGS, NULL},
    {"step", (PyCFunction)step_method, METH_VARARGS, NULL},
    {"finish", (PyCFunction)finish_method, METH_NOARGS, NULL},
    {"run", (PyCFunction)run_method, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot SLOTS[] = {
    {Py_tp_new, create}, {Py_tp_dealloc, destroy}, {Py_tp_methods, METHODS}, {0, NULL}};
static PyType_Spec SPEC = {"mujoco_ros.native.Steps", sizeof(Steps), 0, Py_TPFLAGS_DEFAULT, SLOTS};

PyObject *new_steps_type(void) { return PyType_FromSpec(&SPEC); }

#else  // as in an isolated build: the steps are in Python
const long ENGINE_VERSION = 0;
PyObject *new_steps_type(void) { return Py_NewRef(Py_None); }
#endif
