// Steps of a simulation: references to controls, the engine's step, sample, messages, shared memory.
//
// Python makes and checks the plan, and runs what is written in Python: `run` returns when something
// in Python is to be done. sim/simulation.py has the same steps in Python, with the same results.

#include "plan.h"

#include <math.h>
#include <mujoco/mujoco.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

const long ENGINE_VERSION = mjVERSION_HEADER;

// What `run` returns for: nothing more, or what Python does next.
enum { TAKEN, UNSOLVED, WARNED, PUBLISH, IN_PYTHON };
// Numbers of the settings and of the pace, which Python may change between two calls.
enum { ORIGIN, TIMESTEP, LAST_TIME, IS_AFFECTED, SMALL, LIMIT, SETTINGS };
enum { DUE, PERIOD, CATCH_UP, DROPPED, LAG, LATE, LAST, PACE };
static const double LARGEST_CTRL = 1e9;  // as drives.py
static const double QUADRATIC = 0.03;    // as sparse_newton.py
static const double LONGEST_SLEEP_S = 0.01, LONGEST_RUN_S = 0.02;
static const int64_t SECOND_NS = 1000000000;

// Updates of derived arrays; the columns of a row follow its kind.
enum { ROTATE, RELATIVE, OPTICAL, COPY, MARK, ERROR, ANGLE_ERROR, ADD, UPDATES };

typedef struct {
  int kind;
  const double *a, *b, *c, *d;
  double *to;
  int64_t count;
} Update;
typedef struct {  // topics that are published at the same steps
  int64_t every;
  int in_python;  // whether Python has to update or to send something
  Messages *messages;
  Update *updates;
  Py_ssize_t count;
  Arrays arrays;
} Group;
typedef struct {
  char *to;
  const char *from;
  size_t size;
} Piece;
typedef struct {
  Piece *pieces;
  Py_ssize_t count;
  Py_buffer *views;
} Copies;
typedef struct {
  int64_t slot, column;
} Input;
typedef struct {  // what is counted when it is at its limit
  const double *force, *low, *high;
  const mjtBool *is_limited;  // NULL: always
  int64_t *steps;
} Limited;

typedef struct {  // in the order in which Python names them
  void (*step)(const mjModel *, mjData *);
  int (*state_size)(const mjModel *, int);
  void (*get_state)(const mjModel *, const mjData *, mjtNum *, int);
  mjfLogHandler (*set_log_handler)(mjfLogHandler);
  void (*negate)(mjtNum[4], const mjtNum[4]);
  void (*rotate)(mjtNum[3], const mjtNum[3], const mjtNum[4]);
  void (*to_quat)(mjtNum[4], const mjtNum[9]);
  void (*multiply)(mjtNum[4], const mjtNum[4], const mjtNum[4]);
} Engine;
typedef struct {
  PyObject_HEAD
  mjModel *model;
  mjData *data;
  Engine engine;
  PyObject *on_warning;
  Arrays arrays;
  double *settings, *time, *present, *sample, *factors, *offsets;
  int64_t *seen;  // warnings that Python has handled
  int components;  // of the state, as bits of mjtState
  size_t state_size;
  double begun;  // simulated time of the present step
  Input *inputs;
  Py_ssize_t input_count;
  Limited *limited;
  Py_ssize_t limited_count;
  Group *groups;
  Py_ssize_t group_count;
  Messages *clock;
  int64_t clock_every;
  int is_clock_last;
  Copies *rows;  // of shared memory
  Py_ssize_t row_count;
  Arrays shared;  // the counter, then the time of each row
} Steps;

static __thread struct {
  jmp_buf escape;
  char text[sizeof(((mjLogMessage *)0)->subject)];
  PyObject *on_warning;
} call;

// ---- plan ---------------------------------------------------------------------------------------

static void release_copies(Copies *copies) {
  for (Py_ssize_t i = 0; copies->views != NULL && i < 2 * copies->count; i++)
    if (copies->views[i].obj != NULL) PyBuffer_Release(&copies->views[i]);
  PyMem_Free(copies->views);
  PyMem_Free(copies->pieces);
  memset(copies, 0, sizeof *copies);
}

// View the buffers of pairs (target, source), which must have the same size.
static int view_copies(Copies *copies, PyObject *pairs) {
  Py_ssize_t count = PySequence_Size(pairs);
  if (count < 0) return -1;
  copies->views = PyMem_Calloc(2 * (size_t)count + 1, sizeof(Py_buffer));
  copies->pieces = PyMem_Calloc((size_t)count + 1, sizeof(Piece));
  if (copies->views == NULL || copies->pieces == NULL) return -1;
  copies->count = count;
  for (Py_ssize_t i = 0; i < count; i++) {
    Py_buffer *views = &copies->views[2 * i];
    PyObject *pair = PySequence_GetItem(pairs, i), *to = NULL, *from = NULL;
    int failed = pair == NULL || !PyArg_ParseTuple(pair, "OO", &to, &from) ||
                 PyObject_GetBuffer(to, &views[0], PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) < 0 ||
                 PyObject_GetBuffer(from, &views[1], PyBUF_C_CONTIGUOUS) < 0;
    Py_XDECREF(pair);
    if (!failed && views[0].len != views[1].len) {
      PyErr_Format(PyExc_ValueError, "the arrays of copy %zd differ in size", i);
      failed = 1;
    }
    if (failed) return -1;
    copies->pieces[i] = (Piece){views[0].buf, views[1].buf, (size_t)views[0].len};
  }
  return 0;
}

static int out_of_range(const char *what, int64_t index) {
  PyErr_Format(PyExc_ValueError, "%s %lld does not exist", what, (long long)index);
  return -1;
}

static int read_input(void *plan, const int64_t *row, Py_ssize_t at) {
  Steps *self = plan;
  if (row[0] < 0 || row[0] >= self->model->nu) return out_of_range("control", row[0]);
  if (row[1] < 0) return out_of_range("joint", row[1]);
  self->inputs[at] = (Input){row[0], row[1]};
  return 0;
}

// Columns: actuator and output, or -1 and degree of freedom; then what is counted: an array of
// limits (low, high), which actuators have themselves, its element, and an array of counts and its
// element.
static int read_limited(void *plan, const int64_t *row, Py_ssize_t at) {
  Steps *self = plan;
  const mjModel *model = self->model;
  Limited *limited = &self->limited[at];
  if (row[0] >= model->nactuator) return out_of_range("actuator", row[0]);
  if (row[1] < 0 || row[1] >= (row[0] < 0 ? model->nv : model->nout))
    return out_of_range("output", row[1]);
  if (row[0] < 0) {
    limited->force = self->data->qfrc_actuator + row[1];
    limited->low = numbers_at(&self->arrays, row[2], row[3], 2);
    limited->is_limited = NULL;
  } else {
    limited->force = self->data->actuator_force + row[1];
    limited->low = model->actuator_forcerange + 2 * row[0];
    limited->is_limited = model->actuator_forcelimited + row[0];
  }
  limited->high = limited->low + 1;
  limited->steps = integers_at(&self->arrays, row[4], row[5], 1);
  return limited->low == NULL || limited->steps == NULL ? -1 : 0;
}

// Columns: kind, then array and element of up to five places, then a count.
static int read_update(void *plan, const int64_t *row, Py_ssize_t at) {
  static const int64_t SIZES[UPDATES][5] = {
      [ROTATE] = {4, 3, 0, 0, 3},    [RELATIVE] = {3, 4, 3, 4, 7},    [OPTICAL] = {3, 9, 4, 0, 7},
      [COPY] = {-1, 0, 0, 0, -1},    [MARK] = {1, 0, 0, 0, 1},        [ERROR] = {1, 1, 0, 0, 1},
      [ANGLE_ERROR] = {1, 1, 0, 0, 1}, [ADD] = {-1, -1, 0, 0, -1}};
  Group *group = plan;
  Update *update = &group->updates[at];
  if (row[0] < 0 || row[0] >= UPDATES) return out_of_range("update", row[0]);
  update->kind = (int)row[0];
  update->count = row[11];
  double *places[5] = {NULL};
  for (int i = 0; i < 5; i++) {
    int64_t size = SIZES[row[0]][i] < 0 ? row[11] : SIZES[row[0]][i];
    if (!size) continue;
    places[i] = numbers_at(&group->arrays, row[1 + 2 * i], row[2 + 2 * i], size);
    if (places[i] == NULL) return -1;
  }
  update->a = places[0], update->b = places[1], update->c = places[2], update->d = places[3];
  update->to = places[4];
  return 0;
}

static Messages *checked_messages(PyObject *object) {
  if (object == Py_None) return NULL;
  if (!PyObject_TypeCheck(object, messages_type)) {
    PyErr_SetString(PyExc_TypeError, "not a plan of messages");
    return NULL;
  }
  Py_INCREF(object);
  return (Messages *)object;
}

static void release_topics(Steps *self) {
  for (Py_ssize_t i = 0; i < self->group_count; i++) {
    Group *group = &self->groups[i];
    Py_XDECREF((PyObject *)group->messages);
    PyMem_Free(group->updates);
    release_arrays(&group->arrays);
  }
  PyMem_Free(self->groups);
  Py_XDECREF((PyObject *)self->clock);
  self->groups = NULL, self->group_count = 0, self->clock = NULL;
}

static void release_sharing(Steps *self) {
  for (Py_ssize_t i = 0; i < self->row_count; i++) release_copies(&self->rows[i]);
  PyMem_Free(self->rows);
  release_arrays(&self->shared);
  self->rows = NULL, self->row_count = 0, self->shared = (Arrays){NULL, 0};
}

static PyObject *set_topics(Steps *self, PyObject *arguments) {
  PyObject *groups, *clock;
  long long every;
  int is_last;
  if (!PyArg_ParseTuple(arguments, "OOLp", &groups, &clock, &every, &is_last)) return NULL;
  Py_ssize_t count = PySequence_Size(groups);
  if (count < 0) return NULL;
  release_topics(self);
  self->clock_every = every, self->is_clock_last = is_last;
  self->clock = checked_messages(clock);
  self->groups = PyMem_Calloc((size_t)count + 1, sizeof(Group));
  if (self->groups == NULL) return PyErr_NoMemory();
  for (Py_ssize_t i = 0; i < count && !PyErr_Occurred(); i++) {
    Group *group = &self->groups[self->group_count++];
    PyObject *item = PySequence_GetItem(groups, i), *messages, *arrays, *updates;
    long long group_every;
    if (item != NULL && PyArg_ParseTuple(item, "LpOOO", &group_every, &group->in_python, &messages,
                                         &arrays, &updates)) {
      group->every = group_every;
      group->messages = checked_messages(messages);
      if (group_every < 1 || (group->messages == NULL && !group->in_python))
        PyErr_SetString(PyExc_ValueError, "a group has a period and messages");
      else if (view_arrays(&group->arrays, arrays) == 0)
        read_rows(group, updates, 12, sizeof(Update), &group->updates, &group->count, read_update);
    }
    Py_XDECREF(item);
  }
  if (PyErr_Occurred()) {
    release_topics(self);
    return NULL;
  }
  Py_RETURN_NONE;
}

static PyObject *set_sharing(Steps *self, PyObject *arguments) {
  PyObject *rows, *arrays;
  if (!PyArg_ParseTuple(arguments, "OO", &rows, &arrays)) return NULL;
  Py_ssize_t count = PySequence_Size(rows);
  if (count < 0) return NULL;
  release_sharing(self);
  self->rows = PyMem_Calloc((size_t)count + 1, sizeof(Copies));
  int failed = self->rows == NULL || view_arrays(&self->shared, arrays) < 0;
  failed = failed || integers_at(&self->shared, 0, 0, 1) == NULL;
  for (Py_ssize_t i = 0; i < count && !failed; i++) {
    PyObject *pairs = PySequence_GetItem(rows, i);
    self->row_count++;
    failed = pairs == NULL || view_copies(&self->rows[i], pairs) < 0 ||
             numbers_at(&self->shared, 1 + i, 0, 1) == NULL;
    Py_XDECREF(pairs);
  }
  if (failed) {
    release_sharing(self);
    return PyErr_Occurred() ? NULL : PyErr_NoMemory();
  }
  Py_RETURN_NONE;
}

// The first arrays: settings, time, warnings, the state before the step, and the sample.
static int view_fields(Steps *self) {
  int64_t size = self->engine.state_size(self->model, self->components);
  self->state_size = (size_t)size * sizeof(double);
  self->settings = numbers_at(&self->arrays, 0, 0, SETTINGS);
  self->time = numbers_at(&self->arrays, 1, 0, 1);
  self->seen = integers_at(&self->arrays, 2, 0, mjNWARNING);
  self->present = numbers_at(&self->arrays, 3, 0, size);
  self->sample = numbers_at(&self->arrays, 4, 0, size);
  return PyErr_Occurred() ? -1 : 0;
}

static int read_engine(Steps *self, PyObject *addresses) {
  Py_buffer view;
  if (PyObject_GetBuffer(addresses, &view, PyBUF_C_CONTIGUOUS) < 0) return -1;
  int fits = view.len == (Py_ssize_t)sizeof(Engine);
  if (fits)
    memcpy(&self->engine, view.buf, sizeof(Engine));
  else
    PyErr_SetString(PyExc_ValueError, "not the addresses of the engine's functions");
  PyBuffer_Release(&view);
  return fits ? 0 : -1;
}

static PyObject *create(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  static char *names[] = {"model",      "data",   "functions", "on_warning", "arrays",
                          "components", "inputs", "limited",   NULL};
  unsigned long long model, data;
  PyObject *functions, *on_warning, *arrays, *inputs, *limited;
  int components;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "KKOOOiOO", names, &model, &data,
                                   &functions, &on_warning, &arrays, &components, &inputs,
                                   &limited))
    return NULL;
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  Steps *self = (Steps *)allocate(type, 0);
  if (self == NULL) return NULL;
  self->model = (mjModel *)(uintptr_t)model;
  self->data = (mjData *)(uintptr_t)data;
  self->components = components;
  Py_INCREF(on_warning);
  self->on_warning = on_warning;
  if (read_engine(self, functions) < 0 || view_arrays(&self->arrays, arrays) < 0 ||
      view_fields(self) < 0 ||
      read_rows(self, inputs, 2, sizeof(Input), &self->inputs, &self->input_count, read_input) < 0 ||
      (self->factors = numbers_at(&self->arrays, 5, 0, 3 * self->input_count)) == NULL ||
      (self->offsets = numbers_at(&self->arrays, 6, 0, self->input_count)) == NULL ||
      read_rows(self, limited, 6, sizeof(Limited), &self->limited, &self->limited_count,
                read_limited) < 0) {
    if (!PyErr_Occurred()) PyErr_NoMemory();
    Py_DECREF(self);
    return NULL;
  }
  return (PyObject *)self;
}

static void destroy(Steps *self) {
  PyTypeObject *type = Py_TYPE((PyObject *)self);
  release_topics(self);
  release_sharing(self);
  release_arrays(&self->arrays);
  PyMem_Free(self->inputs);
  PyMem_Free(self->limited);
  Py_XDECREF(self->on_warning);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

// ---- a step -------------------------------------------------------------------------------------

// Handle messages of the engine: escape from an error, and pass a warning to Python.
static void handle_log(const mjLogMessage *message) {
  if (message->level == mjLOG_ERROR) {
    memcpy(call.text, message->subject, sizeof call.text);
    longjmp(call.escape, 1);
  }
  if (message->level != mjLOG_WARNING) return;
  PyGILState_STATE state = PyGILState_Ensure();
  PyObject *result = PyObject_CallFunction(call.on_warning, "s", message->subject);
  if (result == NULL) PyErr_WriteUnraisable(call.on_warning);
  Py_XDECREF(result);
  PyGILState_Release(state);
}

// Advance the engine; return whether it reported an error, which is in `call.text`.
static int step_engine(Steps *self) {
  call.on_warning = self->on_warning;
  mjfLogHandler before = self->engine.set_log_handler(handle_log);
  int failed = setjmp(call.escape);
  if (!failed) self->engine.step(self->model, self->data);
  self->engine.set_log_handler(before);
  return failed;
}

// Write the controls of references, as `Drives.write` does. Its products of three by three numbers
// are rounded once for each sum, which fma repeats.
static void write_controls(Steps *self, const double *references, Py_ssize_t joints) {
  for (Py_ssize_t i = 0; i < self->input_count; i++) {
    const double *factor = self->factors + 3 * i;
    const double *reference = references + self->inputs[i].column;
    double control = fma(factor[0], reference[0], 0.0);
    control = fma(factor[1], reference[joints], control);
    control = fma(factor[2], reference[2 * joints], control);
    control += self->offsets[i];
    if (control < -LARGEST_CTRL) control = -LARGEST_CTRL;
    if (control > LARGEST_CTRL) control = LARGEST_CTRL;
    self->data->ctrl[self->inputs[i].slot] = control;
  }
}

static void copy(const Copies *copies) {
  for (Py_ssize_t i = 0; i < copies->count; i++)
    memcpy(copies->pieces[i].to, copies->pieces[i].from, copies->pieces[i].size);
}

// Return whether the solver has converged beyond doubt, as the first part of `_is_solved`.
static int is_solved(const Steps *self) {
  const mjData *data = self->data;
  int islands = data->nisland ? data->nisland : 1;
  for (int i = 0; i < islands && i < mjNISLAND; i++) {
    int count = data->solver_niter[i];
    if (count >= self->settings[LIMIT] || count > mjNSOLVER) return 0;
    const mjSolverStat *last = data->solver + i * mjNSOLVER + count - 1;
    if (count && last->gradient > self->settings[SMALL]) {
      double before = count > 1 ? last[-1].gradient : 0.0;
      if (last->gradient > QUADRATIC * before) return 0;
    }
  }
  return islands <= mjNISLAND;
}

// Count what is at its limit, and take the sample.
static void complete(Steps *self) {
  for (Py_ssize_t i = 0; i < self->limited_count; i++) {
    const Limited *limited = &self->limited[i];
    double force = *limited->force;
    if ((limited->is_limited == NULL || *limited->is_limited) &&
        (force <= *limited->low || force >= *limited->high))
      ++*limited->steps;
  }
  memcpy(self->sample, self->present, self->state_size);
  double origin = self->settings[ORIGIN], timestep = self->settings[TIMESTEP];
  *self->time = self->begun;
  // The engine sums timesteps; the rounding errors would show in stamps after minutes.
  self->data->time = origin + rint((self->begun + timestep - origin) / timestep) * timestep;
}

static int finish(Steps *self) {
  for (int i = 0; i < mjNWARNING; i++)
    if (self->data->warning[i].number != self->seen[i]) return WARNED;
  complete(self);
  return TAKEN;
}

// Advance by one timestep; return what Python does next, or -1 after an error of the engine.
static int advance(Steps *self, const double *references, Py_ssize_t joints) {
  self->begun = self->data->time;
  if (self->begun >= self->settings[LAST_TIME]) return IN_PYTHON;
  write_controls(self, references, joints);
  self->engine.get_state(self->model, self->data, self->present, self->components);
  if (step_engine(self)) return -1;
  if (self->settings[IS_AFFECTED] && self->data->nefc && !is_solved(self)) return UNSOLVED;
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

// Difference of angles in [-pi, pi), with the remainder that NumPy computes.
static double wrap(double difference) {
  double turn = 2 * 3.141592653589793, rest = fmod(difference + turn / 2, turn);
  if (rest < 0.0) rest += turn;
  return (rest == 0.0 ? 0.0 : rest) - turn / 2;
}

static void compute(const Steps *self, const Update *update) {
  double quat[4];
  switch (update->kind) {
    case ROTATE:
      self->engine.negate(quat, update->a);
      self->engine.rotate(update->to, update->b, quat);
      break;
    case RELATIVE:
      relate(update);
      break;
    case OPTICAL:
      memcpy(update->to, update->a, 3 * sizeof(double));
      self->engine.to_quat(quat, update->b);
      self->engine.multiply(update->to + 3, quat, update->c);
      break;
    case COPY:
      memcpy(update->to, update->a, (size_t)update->count * sizeof(double));
      break;
    case MARK:
      if (*update->to < 0 || *update->to >= *update->a) *update->to = INFINITY;
      break;
    case ERROR:
      *update->to = *update->a - *update->b;
      break;
    case ANGLE_ERROR:
      *update->to = wrap(*update->a - *update->b);
      break;
    case ADD:
      for (int64_t i = 0; i < update->count; i++) update->to[i] = update->a[i] + update->b[i];
      break;
  }
}

static int is_wanted(const Group *group) {
  if (group->messages != NULL) return has_subscriptions(group->messages);
  for (Py_ssize_t i = 0; i < group->arrays.count; i++)
    if (*(const int64_t *)group->arrays.views[i].buf) return 1;
  return 0;
}

static int fill(Messages *messages, int64_t nanoseconds) {
  int64_t rest = nanoseconds % SECOND_NS;
  return fill_messages(messages, (int32_t)((nanoseconds - rest) / SECOND_NS), (uint32_t)rest);
}

static int send_clock(Steps *self, int64_t nanoseconds, PyObject **rejected) {
  if (!fill(self->clock, nanoseconds)) return PUBLISH;
  send_messages(self->clock, rejected);
  return TAKEN;
}

// Send the messages that are due, as `Publishers.publish`; return what Python does next.
static int publish(Steps *self, PyObject **rejected) {
  double time = *self->time;
  int64_t number = (int64_t)rint((time - self->settings[ORIGIN]) / self->settings[TIMESTEP]);
  int64_t nanoseconds = (int64_t)rint(time * 1e9);
  int is_due = 0, outcome = TAKEN;
  for (Py_ssize_t i = 0; i < self->group_count; i++) {
    const Group *group = &self->groups[i];
    if (number % group->every) continue;
    is_due = 1;
    if (group->in_python && is_wanted(group)) return PUBLISH;
  }
  int has_clock = self->clock_every ? number % self->clock_every == 0 : is_due;
  if (has_clock && !self->is_clock_last) outcome = send_clock(self, nanoseconds, rejected);
  for (Py_ssize_t i = 0; i < self->group_count && outcome == TAKEN; i++) {
    Group *group = &self->groups[i];
    if (number % group->every || group->in_python || !is_wanted(group)) continue;
    for (Py_ssize_t j = 0; j < group->count; j++) compute(self, &group->updates[j]);
    if (!fill(group->messages, nanoseconds)) return PUBLISH;
    send_messages(group->messages, rejected);
  }
  if (has_clock && self->is_clock_last) outcome = send_clock(self, nanoseconds, rejected);
  return outcome;
}

// Write the next row of the shared memory, as `SharedStateWriter`.
static void share(Steps *self) {
  if (!self->row_count) return;
  volatile int64_t *counter = self->shared.views[0].buf;
  int64_t count = *counter + 1;
  Py_ssize_t row = (Py_ssize_t)(count % self->row_count);
  *(double *)self->shared.views[1 + row].buf = *self->time;
  copy(&self->rows[row]);
  atomic_thread_fence(memory_order_release);
  *counter = count;
}

// ---- steps in real time -------------------------------------------------------------------------

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void sleep_for(double seconds) {
  if (seconds > LONGEST_SLEEP_S) seconds = LONGEST_SLEEP_S;
  struct timespec time = {0, (long)(seconds * 1e9)};
  nanosleep(&time, NULL);
}

typedef struct {
  int64_t *cells;
  Py_ssize_t last;
} Counts;

static void count_duration(const Counts *counts, double seconds) {
  int64_t index = (int64_t)(seconds * 1e6);
  ++counts->cells[index >= 0 && index < counts->last ? index : counts->last];
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

typedef struct {  // times of complete steps, for measurements: their number, then a row for each
  int64_t *count, *rows;
  Py_ssize_t most;
} Trace;

enum { BEGUN, STEPPED, PUBLISHED, STAMP, LATE_STEPS, SHARED, TRACED };

static int64_t nanoseconds(double seconds) { return (int64_t)rint(seconds * 1e9); }

typedef struct {
  const double *references;
  Py_ssize_t joints;
  int64_t most;
  double *pace;
  volatile const int64_t *attention;
  Counts periods, costs;
  Trace trace;
} Run;

static void trace_step(const Run *run, const Steps *self, const double times[4]) {
  const Trace *trace = &run->trace;
  if (trace->count == NULL || *trace->count >= trace->most) return;
  int64_t *row = trace->rows + TRACED * (*trace->count)++;
  row[BEGUN] = nanoseconds(times[0]), row[STEPPED] = nanoseconds(times[1]);
  row[PUBLISHED] = nanoseconds(times[2]), row[SHARED] = nanoseconds(times[3]);
  row[STAMP] = nanoseconds(*self->time), row[LATE_STEPS] = (int64_t)run->pace[LATE];
}

static int run_steps(Steps *self, const Run *run, int64_t *steps, PyObject **rejected) {
  double begun = now(), dropped = run->pace[DROPPED];
  int outcome = TAKEN;
  while (*steps < run->most && !*run->attention && outcome == TAKEN && *rejected == NULL) {
    double time = now();
    // Python checks from time to time what changes without a command.
    if (time - begun > LONGEST_RUN_S || run->pace[DROPPED] != dropped) break;
    double delay = wait_for_step(run->pace, time);
    if (delay > 0.0) {
      sleep_for(delay);
      continue;
    }
    count_duration(&run->periods, time - run->pace[LAST]);
    run->pace[LAST] = time;
    double times[4] = {time};
    outcome = advance(self, run->references, run->joints);
    times[1] = now();
    if (outcome == TAKEN) outcome = publish(self, rejected);
    times[2] = now();
    if (outcome == TAKEN) {
      share(self);
      ++*steps;
      times[3] = now();
      count_duration(&run->costs, times[3] - time);
      trace_step(run, self, times);
    }
  }
  return outcome;
}

static int view_references(Steps *self, PyObject *object, Py_buffer *view) {
  if (PyObject_GetBuffer(object, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0) return -1;
  Py_ssize_t joints = view->len / 3 / (Py_ssize_t)sizeof(double);
  int fits = view->itemsize == (Py_ssize_t)sizeof(double) && *view->format == 'd';
  for (Py_ssize_t i = 0; fits && i < self->input_count; i++) fits = self->inputs[i].column < joints;
  if (fits) return 0;
  PyErr_SetString(PyExc_ValueError, "references are three rows of a number for each joint");
  PyBuffer_Release(view);
  return -1;
}

static PyObject *result_of(int outcome, int64_t steps, PyObject *rejected) {
  if (outcome >= 0) {
    if (rejected == NULL) return Py_BuildValue("iL()", outcome, (long long)steps);
    return Py_BuildValue("iLN", outcome, (long long)steps, rejected);
  }
  Py_XDECREF(rejected);
  PyErr_SetString(PyExc_RuntimeError, call.text);
  return NULL;
}

static PyObject *run_method(Steps *self, PyObject *arguments) {
  PyObject *references, *cells;
  long long most;
  if (!PyArg_ParseTuple(arguments, "OLO", &references, &most, &cells)) return NULL;
  Arrays arrays = {NULL, 0};
  Py_buffer view;
  if (view_references(self, references, &view) < 0) return NULL;
  PyObject *result = NULL, *rejected = NULL;
  Run run = {.references = view.buf, .joints = view.len / 24, .most = most};
  // The cells: pace, attention, counts of periods and of costs.
  if (view_arrays(&arrays, cells) == 0 &&
      (run.pace = numbers_at(&arrays, 0, 0, PACE)) != NULL &&
      (run.attention = integers_at(&arrays, 1, 0, 1)) != NULL &&
      (run.periods.cells = integers_at(&arrays, 2, 0, 1)) != NULL &&
      (run.costs.cells = integers_at(&arrays, 3, 0, 1)) != NULL) {
    run.periods.last = arrays.views[2].len / 8 - 1, run.costs.last = arrays.views[3].len / 8 - 1;
    if (arrays.count > 4 && (run.trace.count = integers_at(&arrays, 4, 0, 1)) != NULL) {
      run.trace.rows = run.trace.count + 1;
      run.trace.most = (arrays.views[4].len / 8 - 1) / TRACED;
    }
    int64_t steps = 0;
    PyThreadState *thread = PyEval_SaveThread();
    int outcome = run_steps(self, &run, &steps, &rejected);
    PyEval_RestoreThread(thread);
    result = result_of(outcome, steps, rejected);
  }
  release_arrays(&arrays);
  PyBuffer_Release(&view);
  return result;
}

static PyObject *step_method(Steps *self, PyObject *references) {
  Py_buffer view;
  if (view_references(self, references, &view) < 0) return NULL;
  PyThreadState *thread = PyEval_SaveThread();
  int outcome = advance(self, view.buf, view.len / 24);
  PyEval_RestoreThread(thread);
  PyBuffer_Release(&view);
  if (outcome >= 0) return PyLong_FromLong(outcome);
  PyErr_SetString(PyExc_RuntimeError, call.text);
  return NULL;
}

static PyObject *finish_method(Steps *self, PyObject *Py_UNUSED(none)) {
  return PyLong_FromLong(finish(self));
}

static PyObject *complete_method(Steps *self, PyObject *Py_UNUSED(none)) {
  complete(self);
  Py_RETURN_NONE;
}

// ---- module -------------------------------------------------------------------------------------

static PyMethodDef METHODS[] = {
    {"set_topics", (PyCFunction)set_topics, METH_VARARGS,
     "set_topics(groups, clock, clock_every, is_clock_last): plan what `run` publishes."},
    {"set_sharing", (PyCFunction)set_sharing, METH_VARARGS,
     "set_sharing(rows, arrays): plan the rows of shared memory that `run` writes."},
    {"step", (PyCFunction)step_method, METH_O,
     "step(references): advance by one timestep; return what is to be done in Python."},
    {"finish", (PyCFunction)finish_method, METH_NOARGS,
     "finish(): complete a step that the solver's check had interrupted; return as `step`."},
    {"complete", (PyCFunction)complete_method, METH_NOARGS,
     "complete(): take the sample of a step that a warning had interrupted."},
    {"run", (PyCFunction)run_method, METH_VARARGS,
     "run(references, most, cells): step, publish and share in real time until something is to\n"
     "be done in Python; return (what, complete steps, rejected messages)."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot SLOTS[] = {
    {Py_tp_new, create},
    {Py_tp_dealloc, destroy},
    {Py_tp_methods, METHODS},
    {Py_tp_doc, "Steps(model, data, functions, on_warning, arrays, components, inputs, limited)\n\n"
                "Steps of a simulation; see steps.c for the plan."},
    {0, NULL},
};
static PyType_Spec SPEC = {"mujoco_ros.native.Steps", sizeof(Steps), 0, Py_TPFLAGS_DEFAULT, SLOTS};

PyObject *new_steps_type(void) { return PyType_FromSpec(&SPEC); }
