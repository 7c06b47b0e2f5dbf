// Messages of several topics in one buffer: filled from arrays and sent without the interpreter.
// Doubles are little-endian, as in CDR of the middleware.

#include <math.h>
#include <string.h>

#include "plan.h"

enum { DOUBLE, NEGATED_DOUBLE, FLOAT, NEGATED_FLOAT };
static const int64_t SECOND_NS = 1000000000;
static const double LONGEST_S = 2147483648.0;  // seconds of a message are an int32

// The rows of the tables.
typedef struct {
  const double *from;
  uint8_t *to;
  int64_t form;
} Number;
typedef struct {
  const double *from;
  uint8_t *to;
} Duration;
typedef struct {
  const void *publisher;  // NULL: sent by Python
  const int64_t *subscriptions;
  int64_t *lost;
  const uint8_t *bytes;
  size_t length;
} Message;

enum { NUMBERS, STAMPS, DURATIONS, MESSAGES, MIDDLEWARE, TABLES };
static const size_t ROWS[TABLES] = {sizeof(Number), sizeof(uint8_t *), sizeof(Duration),
                                    sizeof(Message), sizeof(Middleware)};

struct Messages {
  PyObject_HEAD
  Table tables[TABLES];
};

static void destroy(Messages *self) {
  PyThreadState *thread = PyEval_SaveThread();
  flush_sender();  // which may use the tables
  PyEval_RestoreThread(thread);
  release_tables(self->tables, TABLES);
  free_object((PyObject *)self);
}

static PyObject *create(PyTypeObject *type, PyObject *tables, PyObject *Py_UNUSED(keywords)) {
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  Messages *self = (Messages *)allocate(type, 0);
  if (self != NULL && take_tables(self->tables, ROWS, TABLES, tables) < 0) Py_CLEAR(self);
  start_sender();
  return (PyObject *)self;
}

static void write_time(uint8_t *to, int64_t nanoseconds) {
  int64_t rest = nanoseconds % SECOND_NS;
  if (rest < 0) rest += SECOND_NS;
  int32_t sec = (int32_t)((nanoseconds - rest) / SECOND_NS);
  uint32_t nanosec = (uint32_t)rest;
  memcpy(to, &sec, sizeof sec);
  memcpy(to + sizeof sec, &nanosec, sizeof nanosec);
}

static void write_number(const Number *number) {
  double value = *number->from;
  if (number->form == NEGATED_DOUBLE || number->form == NEGATED_FLOAT) value = -value;
  float single = (float)value;
  if (number->form < FLOAT)
    memcpy(number->to, &value, sizeof value);
  else
    memcpy(number->to, &single, sizeof single);
}

int fill_messages(Messages *self, int64_t nanoseconds) {
  const Table *numbers = &self->tables[NUMBERS], *stamps = &self->tables[STAMPS];
  const Table *durations = &self->tables[DURATIONS];
  int valid = 1;
  for (Py_ssize_t i = 0; i < numbers->count; i++) write_number((Number *)numbers->rows + i);
  for (Py_ssize_t i = 0; i < stamps->count; i++)
    write_time(((uint8_t **)stamps->rows)[i], nanoseconds);
  for (Py_ssize_t i = 0; i < durations->count; i++) {
    const Duration *duration = (Duration *)durations->rows + i;
    if (fabs(*duration->from) < LONGEST_S)
      write_time(duration->to, (int64_t)rint(*duration->from * 1e9));
    else
      valid = 0;
  }
  return valid;
}

void send_messages(Messages *self, int sending) {
  const Table *messages = &self->tables[MESSAGES];
  for (Py_ssize_t i = 0; i < messages->count; i++) {
    const Message *message = (Message *)messages->rows + i;
    if (!*message->subscriptions || message->publisher == NULL) continue;
    Parcel parcel = {self->tables[MIDDLEWARE].rows, message->publisher, message->lost,
                     message->length};
    send_parcel(&parcel, message->bytes, sending);
  }
}

static PyObject *fill_method(Messages *self, PyObject *arguments) {
  long long sec, nanosec;
  if (!PyArg_ParseTuple(arguments, "LL", &sec, &nanosec)) return NULL;
  if (fill_messages(self, sec * SECOND_NS + nanosec)) Py_RETURN_NONE;
  PyErr_SetString(PyExc_ValueError, "a duration is not a number of seconds below 2^31");
  return NULL;
}

static PyObject *send_method(Messages *self, PyObject *arguments) {
  int sending;
  if (!PyArg_ParseTuple(arguments, "i", &sending)) return NULL;
  PyThreadState *thread = PyEval_SaveThread();
  send_messages(self, sending);
  wake_sender();
  PyEval_RestoreThread(thread);
  Py_RETURN_NONE;
}

static PyMethodDef METHODS[] = {
    {"fill", (PyCFunction)fill_method, METH_VARARGS, NULL},
    {"send", (PyCFunction)send_method, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot SLOTS[] = {
    {Py_tp_new, create}, {Py_tp_dealloc, destroy}, {Py_tp_methods, METHODS}, {0, NULL}};
static PyType_Spec SPEC = {"mujoco_ros.native.Messages", sizeof(Messages), 0, Py_TPFLAGS_DEFAULT,
                           SLOTS};

PyObject *new_messages_type(void) { return PyType_FromSpec(&SPEC); }
