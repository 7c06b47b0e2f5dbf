// Steps of a simulation: references to controls, the engine's step, sample, messages, shared memory.
//
// Python runs what is written in Python: a function returns when something there is to be done.
// sim/simulation.py has the same steps in Python, with the same results.

#include "compiled.h"

#if __has_include(<mujoco/mujoco.h>)
#include <math.h>
#include <mujoco/mujoco.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

const int ENGINE_VERSION = mjVERSION_HEADER;

// What Python does next, `StepOutcome` there.
enum { FAILED = -1, TAKEN, UNSOLVED, WARNED, PUBLISH, IN_PYTHON };
// Numbers of the settings and of the pace, which Python may change between two calls.
enum { ORIGIN, TIMESTEP, LAST_TIME, IS_AFFECTED, SMALL, LIMIT };
enum { DUE, PERIOD, CATCH_UP, DROPPED, LAG, LATE, LAST };
static const double LARGEST_CTRL = 1e9;  // as drives.py
static const double QUADRATIC = 0.03;    // as sparse_newton.py
static const double LONGEST_SLEEP_S = 0.01, LONGEST_RUN_S = 0.02;

// ---- rows of the tables -------------------------------------------------------------------------

typedef struct {  // a control that follows the references of a joint
  double *control;
  int64_t joint;
  const double *factors, *offset;
} Input;
typedef struct {  // what is counted when it is at its limit
  const double *force, *range;
  const mjtBool *is_limited;  // NULL: always
  int64_t *steps;
} Limited;
typedef struct {  // references of a stream that ramp, as in control/stream.py
  const double *line;  // whether it ramps, whether by one line; its begin, rate and end
  double *references;
  int64_t stride, rows, columns;  // of references
  const mjtBool *owned;           // of each column
  const double *target, *distance, *begin, *rate;
} Ramp;
enum { IS_RAMPING, IS_COMMON, BEGIN, RATE, UNTIL };
typedef struct {  // topics that are published at the same steps
  int64_t every;
  const Messages *messages;  // NULL: Python publishes them
  const int64_t *is_ready;   // whether its arrays have what Python computes for a run; NULL: always
  int64_t first, count;      // of its numbers of subscriptions
  int64_t update, updates;   // the first one and how many
} Group;
typedef struct {  // an update of a derived array
  int64_t *sample;  // number of the last one that it was made for
  int64_t kind;
  const double *a, *b, *c, *d;
  double *to;
  int64_t count;
} Update;
enum { ROTATE, RELATE, FACE, COPY, MARK, SUBTRACT, SUBTRACT_ANGLE, ADD, MOVE, CARRY };
typedef struct {
  const Group *groups;
  int64_t group_count;
  const Update *updates;
  const int64_t *const *subscriptions;
  const Messages *clock;
  int64_t clock_every, is_clock_last;
} Topics;
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
  volatile int64_t *counter;
  const Row *rows;
  int64_t row_count;
  const Piece *pieces;
} Sharing;
typedef struct {
  double *pace;
  volatile const int64_t *attention;
  int64_t *periods, last_period, *costs, last_cost;  // counts by microseconds
  int64_t *trace, most_traced;  // for measurements: a number of rows, then times of each step
  const int64_t *keeps;         // whether no message is lost, as others wait for them
} Run;
typedef struct {
  const Topics *topics;      // NULL: nothing is published
  const Sharing *sharing;    // NULL: nothing is shared
  int64_t taken;             // steps that the last call completed
  const double *references;  // positions, velocities and efforts of all joints
  int64_t sample;            // number of samples whose messages were due
  double begun;              // simulated time of the present step
  mjModel *model;
  mjData *data;
  const double *settings;
  double *time;
  const int64_t *seen;  // numbers of the warnings that Python has handled
  double *present, *sampled;
  int64_t state_size, components;  // of the state: bytes, and bits of mjtState
  int64_t joints;                  // columns of references
  const Input *inputs;
  int64_t input_count;
  const Limited *limits;
  int64_t limit_count;
  const Ramp *ramps;
  int64_t ramp_count;
  void (*on_warning)(const char *text);
  char *error;  // the text of the last one
  int64_t error_size;
  // The engine's functions, whose library Python has loaded
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
} Steps;

// ---- a step -------------------------------------------------------------------------------------

typedef struct {
  jmp_buf escape;
  Steps *steps;
} Call;
static __thread Call *call;  // the innermost one: a hook may step another simulation

// Handle messages of the engine: escape from an error, and pass a warning to Python.
static void handle_log(const mjLogMessage *message) {
  const Steps *self = call->steps;
  if (message->level == mjLOG_ERROR) {  // the text is as of the engine's bindings
    const char *function = message->func ? message->func : "", *colon = *function ? ": " : "";
    snprintf(self->error, (size_t)self->error_size, "%s%s%s", function, colon, message->subject);
    longjmp(call->escape, 1);
  }
  if (message->level == mjLOG_WARNING) self->on_warning(message->subject);
}

// Advance the engine; return whether it reported an error, which is in `self->error`.
static int step_engine(Steps *self) {
  Call own, *outer = call;
  own.steps = self;
  call = &own;
  mjfLogHandler before = self->set_log_handler(handle_log);
  int failed = setjmp(own.escape);
  if (!failed) self->step(self->model, self->data);
  self->set_log_handler(before);
  call = outer;
  return failed;
}

// Write the controls of references, as `Drives.write` does. Its products of three by three numbers
// are rounded once for each sum, which fma repeats.
static void write_controls(const Steps *self) {
  for (const Input *input = self->inputs; input < self->inputs + self->input_count; input++) {
    const double *reference = self->references + input->joint;
    double control = fma(input->factors[0], reference[0], 0.0);
    control = fma(input->factors[1], reference[self->joints], control);
    control = fma(input->factors[2], reference[2 * self->joints], control);
    control += *input->offset;
    if (control < -LARGEST_CTRL) control = -LARGEST_CTRL;
    if (control > LARGEST_CTRL) control = LARGEST_CTRL;
    *input->control = control;
  }
}

// Write the references of streams, as `Stream.update` does.
static void follow_ramps(const Steps *self) {
  double time = self->data->time;
  for (const Ramp *ramp = self->ramps; ramp < self->ramps + self->ramp_count; ramp++) {
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

// Count what is at its limit, and take the sample; return what Python does next.
int finish_step(Steps *self) {
  mjData *data = self->data;
  for (int i = 0; i < mjNWARNING; i++)
    if (data->warning[i].number != self->seen[i]) return WARNED;
  for (const Limited *at = self->limits; at < self->limits + self->limit_count; at++) {
    if (at->is_limited != NULL && !*at->is_limited) continue;
    if (*at->force <= at->range[0] || *at->force >= at->range[1]) ++*at->steps;
  }
  memcpy(self->sampled, self->present, (size_t)self->state_size);
  *self->time = self->begun;
  // The engine sums timesteps; the rounding errors would show in stamps after minutes.
  double origin = self->settings[ORIGIN], timestep = self->settings[TIMESTEP];
  data->time = origin + rint((self->begun + timestep - origin) / timestep) * timestep;
  return TAKEN;
}

// Advance by one timestep; return what Python does next.
static int advance(Steps *self, int ramps) {
  const mjData *data = self->data;
  if (ramps) follow_ramps(self);
  self->begun = data->time;
  if (self->begun >= self->settings[LAST_TIME]) return IN_PYTHON;
  write_controls(self);
  self->get_state(self->model, data, self->present, (int)self->components);
  if (step_engine(self)) return FAILED;
  if (self->settings[IS_AFFECTED] && data->nefc && !is_solved(data, self->settings))
    return UNSOLVED;
  return finish_step(self);
}

// Take steps without messages and shared memory, until something is to be done in Python.
int take_steps(Steps *self, int64_t most, int ramps) {
  int outcome = TAKEN;
  self->taken = 0;
  while (self->taken < most && outcome == TAKEN) {
    outcome = advance(self, ramps);
    self->taken += outcome == TAKEN;
  }
  return outcome;
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
static void move(const Steps *self, const Update *update) {
  double *to = update->to, *linear = to + 10, offset[3], turn[3];
  self->multiply_pose(to, to + 3, update->a, update->b, update->c, update->d);
  self->velocity(self->model, self->data, mjOBJ_XBODY, (int)update->count, to + 7, 0);
  for (int i = 0; i < 3; i++) offset[i] = to[i] - update->a[i];
  self->cross(turn, to + 7, offset);
  for (int i = 0; i < 3; i++) linear[i] += turn[i];
}

// Motion (pose, linear and angular velocity) of a frame relative to another one, both of `move`.
static void carry(const Steps *self, const Update *update) {
  const double *frame = update->a, *base = update->b;
  double *to = update->to, inverse[7], offset[3], turn[3];
  self->negate_pose(inverse, inverse + 3, base, base + 3);
  self->multiply_pose(to, to + 3, inverse, inverse + 3, frame, frame + 3);
  for (int i = 0; i < 3; i++) offset[i] = frame[i] - base[i];
  self->cross(turn, base + 7, offset);
  for (int i = 0; i < 3; i++) turn[i] += base[10 + i];
  for (int i = 0; i < 3; i++) offset[i] = frame[10 + i] - turn[i];
  self->rotate(to + 7, offset, inverse + 3);
  for (int i = 0; i < 3; i++) offset[i] = frame[7 + i] - base[7 + i];
  self->rotate(to + 10, offset, inverse + 3);
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
      self->negate(quat, update->a);
      self->rotate(update->to, update->b, quat);
      break;
    case RELATE:
      relate(update);
      break;
    case FACE:
      memcpy(update->to, update->a, 3 * sizeof(double));
      self->to_quat(quat, update->b);
      self->multiply(update->to + 3, quat, update->c);
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
      move(self, update);
      break;
    case CARRY:
      carry(self, update);
      break;
  }
}

static int is_wanted(const Topics *topics, const Group *group) {
  for (int64_t i = 0; i < group->count; i++)
    if (*topics->subscriptions[group->first + i]) return 1;
  return 0;
}

// Make the updates of derived arrays that no other group has made for this sample.
static void update_arrays(const Steps *self, const Group *group) {
  const Update *update = self->topics->updates + group->update, *end = update + group->updates;
  for (; update < end; update++) {
    if (*update->sample == self->sample) continue;
    compute(self, update);
    *update->sample = self->sample;
  }
}

// Send the messages that are due, as `Publishers.publish`; return what Python does next.
static int publish(Steps *self, int sending) {
  const Topics *topics = self->topics;
  if (topics == NULL) return TAKEN;
  const Group *groups = topics->groups, *end = groups + topics->group_count;
  double steps = *self->time - self->settings[ORIGIN];
  int64_t number = (int64_t)rint(steps / self->settings[TIMESTEP]);
  int64_t nanoseconds = (int64_t)rint(*self->time * 1e9);
  int is_due = 0, is_valid = 1;
  for (const Group *group = groups; group < end; group++) {
    if (number % group->every) continue;
    is_due = 1;
    int is_ready = group->messages != NULL && (group->is_ready == NULL || *group->is_ready);
    if (!is_ready && is_wanted(topics, group)) return PUBLISH;
  }
  int has_clock = topics->clock_every ? number % topics->clock_every == 0 : is_due;
  ++self->sample;
  if (has_clock && !topics->is_clock_last)
    is_valid = send_messages(topics->clock, nanoseconds, sending);
  for (const Group *group = groups; group < end && is_valid; group++) {
    if (number % group->every || group->messages == NULL || !is_wanted(topics, group)) continue;
    update_arrays(self, group);
    is_valid = send_messages(group->messages, nanoseconds, sending);
  }
  if (has_clock && topics->is_clock_last && is_valid)
    is_valid = send_messages(topics->clock, nanoseconds, sending);
  if (has_clock || is_due) wake_sender();
  return is_valid ? TAKEN : PUBLISH;
}

// Write the next row of the shared memory, as `SharedStateWriter`.
static void share(const Steps *self) {
  const Sharing *sharing = self->sharing;
  if (sharing == NULL) return;
  int64_t count = *sharing->counter + 1;
  const Row *row = sharing->rows + count % sharing->row_count;
  const Piece *piece = sharing->pieces + row->first, *end = piece + row->count;
  atomic_thread_fence(memory_order_release);  // a reader of this row sees the counter first
  *row->time = *self->time;
  for (; piece < end; piece++) memcpy(piece->to, piece->from, (size_t)piece->size);
  atomic_thread_fence(memory_order_release);
  *sharing->counter = count;
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

// Step, publish and share in real time, until something is to be done in Python.
int run_steps(Steps *self, int64_t most, int ramps, const Run *run) {
  double begun = wall_time(), dropped = run->pace[DROPPED];
  int outcome = TAKEN, is_next_due = 0;
  self->taken = 0;
  while (self->taken < most && !*run->attention && outcome == TAKEN) {
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
    outcome = advance(self, ramps);
    times[1] = wall_time();
    if (outcome == TAKEN) outcome = publish(self, run->pace[PERIOD] && !*run->keeps ? IN_TIME : WAITING);
    times[2] = times[3] = wall_time();
    if (outcome == TAKEN) {
      share(self);
      ++self->taken;
      times[3] = wall_time();
      count_duration(run->costs, run->last_cost, times[3] - times[0]);
    }
    if (outcome == TAKEN || outcome == PUBLISH) trace(run, *self->time, times);
  }
  return outcome;
}

#else  // as in an isolated build: the steps are in Python
const int ENGINE_VERSION = 0;
#endif
