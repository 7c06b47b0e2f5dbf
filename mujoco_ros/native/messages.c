// Messages of several topics in one buffer: filled from arrays and sent without the interpreter.
//
// Every address comes from a plan that the constructor checks against the buffers that it holds, so
// no call can read or write outside them. Doubles are little-endian, as in CDR of the middleware.

#include "plan.h"

#include <math.h>
#include <string.h>

enum { DOUBLE, NEGATED_DOUBLE, FLOAT, NEGATED_FLOAT, FORMS };
enum { NUMBER_COLUMNS = 4, DURATION_COLUMNS = 3, MESSAGE_COLUMNS = 4 };
static const int64_t SECOND_NS = 1000000000;
static const double LONGEST_S = 2147483648.0;  // seconds of a message are an int32

// rcutils_uint8_array_t and rcutils_error_string_t (rcutils/types/uint8_array.h, error_handling.h).
typedef struct {
  void *(*allocate)(size_t, void *);
  void (*deallocate)(void *, void *);
  void *(*reallocate)(void *, size_t, void *);
  void *(*zero_allocate)(size_t, size_t, void *);
  void *state;
} Allocator;
typedef struct {
  uint8_t *buffer;
  size_t length;
  size_t capacity;
  Allocator allocator;
} SerializedMessage;
typedef struct {
  char text[1024];
} ErrorText;
typedef int (*PublishFunction)(const void *publisher, const SerializedMessage *, void *allocation);
typedef ErrorText (*ErrorFunction)(void);
typedef void (*ResetFunction)(void);

typedef struct {
  const double *from;
  uint8_t *to;
  int form;
} Number;
typedef struct {
  const double *from;
  uint8_t *to;
} Duration;
typedef struct {
  const void *publisher;
  const int64_t *subscriptions;
  SerializedMessage message;
} Message;

struct Messages {
  PyObject_HEAD
  Py_buffer buffer;
  Arrays arrays;
  Number *numbers;
  Py_ssize_t number_count;
  uint8_t **stamps;
  Py_ssize_t stamp_count;
  Duration *durations;
  Py_ssize_t duration_count;
  Message *messages;
  Py_ssize_t message_count;
  PublishFunction publish;
  ErrorFunction error;
  ResetFunction reset;
};

PyTypeObject *messages_type;

// ---- plan ---------------------------------------------------------------------------------------

static uint8_t *destination(Messages *self, int64_t offset, int64_t size) {
  if (offset < 0 || size < 0 || offset > self->buffer.len - size) {
    PyErr_Format(PyExc_ValueError, "offset %lld is outside the buffer", (long long)offset);
    return NULL;
  }
  return (uint8_t *)self->buffer.buf + offset;
}

// Readers of one row each; return 0, or -1 with an error.

static int read_number(void *plan, const int64_t *row, Py_ssize_t at) {
  Messages *self = plan;
  Number *number = &self->numbers[at];
  if (row[3] < 0 || row[3] >= FORMS) {
    PyErr_SetString(PyExc_ValueError, "a form does not exist");
    return -1;
  }
  number->form = (int)row[3];
  number->from = numbers_at(&self->arrays, row[0], row[1], 1);
  if (number->from == NULL) return -1;
  number->to = destination(self, row[2], row[3] < FLOAT ? sizeof(double) : sizeof(float));
  return number->to == NULL ? -1 : 0;
}

static int read_stamp(void *plan, const int64_t *row, Py_ssize_t at) {
  Messages *self = plan;
  self->stamps[at] = destination(self, row[0], 8);
  return self->stamps[at] == NULL ? -1 : 0;
}

static int read_duration(void *plan, const int64_t *row, Py_ssize_t at) {
  Messages *self = plan;
  Duration *duration = &self->durations[at];
  duration->from = numbers_at(&self->arrays, row[0], row[1], 1);
  if (duration->from == NULL) return -1;
  duration->to = destination(self, row[2], 8);
  return duration->to == NULL ? -1 : 0;
}

static int read_message(void *plan, const int64_t *row, Py_ssize_t at) {
  Messages *self = plan;
  Message *message = &self->messages[at];
  message->message.buffer = destination(self, row[0], row[1]);
  message->message.length = message->message.capacity = (size_t)row[1];
  message->publisher = (const void *)(intptr_t)row[2];
  message->subscriptions = integers_at(&self->arrays, row[3], 0, 1);
  return message->message.buffer == NULL || message->subscriptions == NULL ? -1 : 0;
}

static PyObject *create(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  static char *names[] = {"buffer",    "arrays",   "numbers",   "stamps",
                          "durations", "messages", "functions", NULL};
  PyObject *buffer, *arrays, *numbers, *stamps, *durations, *messages;
  unsigned long long publish, error, reset;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OOOOOO(KKK)", names, &buffer, &arrays,
                                   &numbers, &stamps, &durations, &messages, &publish, &error,
                                   &reset))
    return NULL;
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  Messages *self = (Messages *)allocate(type, 0);
  if (self == NULL) return NULL;
  self->publish = (PublishFunction)(uintptr_t)publish;
  self->error = (ErrorFunction)(uintptr_t)error;
  self->reset = (ResetFunction)(uintptr_t)reset;
  int flags = PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE;
  if (PyObject_GetBuffer(buffer, &self->buffer, flags) < 0 ||
      view_arrays(&self->arrays, arrays) < 0 ||
      read_rows(self, numbers, NUMBER_COLUMNS, sizeof(Number), &self->numbers, &self->number_count,
                read_number) < 0 ||
      read_rows(self, stamps, 1, sizeof(uint8_t *), &self->stamps, &self->stamp_count,
                read_stamp) < 0 ||
      read_rows(self, durations, DURATION_COLUMNS, sizeof(Duration), &self->durations,
                &self->duration_count, read_duration) < 0 ||
      read_rows(self, messages, MESSAGE_COLUMNS, sizeof(Message), &self->messages,
                &self->message_count, read_message) < 0) {
    if (!PyErr_Occurred()) PyErr_NoMemory();
    Py_DECREF(self);
    return NULL;
  }
  return (PyObject *)self;
}

static void destroy(Messages *self) {
  PyTypeObject *type = Py_TYPE((PyObject *)self);
  release_arrays(&self->arrays);
  if (self->buffer.obj != NULL) PyBuffer_Release(&self->buffer);
  PyMem_Free(self->numbers);
  PyMem_Free(self->stamps);
  PyMem_Free(self->durations);
  PyMem_Free(self->messages);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

// ---- steps --------------------------------------------------------------------------------------

static void write_time(uint8_t *to, int32_t sec, uint32_t nanosec) {
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

int fill_messages(Messages *self, int32_t sec, uint32_t nanosec) {
  int valid = 1;
  for (Py_ssize_t i = 0; i < self->number_count; i++) write_number(&self->numbers[i]);
  for (Py_ssize_t i = 0; i < self->stamp_count; i++) write_time(self->stamps[i], sec, nanosec);
  for (Py_ssize_t i = 0; i < self->duration_count; i++) {
    double seconds = *self->durations[i].from;
    if (!(fabs(seconds) < LONGEST_S)) {
      valid = 0;
      continue;
    }
    int64_t total = (int64_t)rint(seconds * 1e9), rest = total % SECOND_NS;
    if (rest < 0) rest += SECOND_NS;
    write_time(self->durations[i].to, (int32_t)((total - rest) / SECOND_NS), (uint32_t)rest);
  }
  return valid;
}

static void note_rejection(Messages *self, Py_ssize_t index, PyObject **rejected) {
  ErrorText error = self->error();
  self->reset();
  error.text[sizeof error.text - 1] = '\0';
  PyGILState_STATE state = PyGILState_Ensure();
  if (*rejected == NULL) *rejected = PyList_New(0);
  PyObject *entry = Py_BuildValue("(Ons)", (PyObject *)self, index, error.text);
  if (entry == NULL || *rejected == NULL || PyList_Append(*rejected, entry) < 0) PyErr_Clear();
  Py_XDECREF(entry);
  PyGILState_Release(state);
}

void send_messages(Messages *self, PyObject **rejected) {
  for (Py_ssize_t i = 0; i < self->message_count; i++) {
    Message *message = &self->messages[i];
    if (*message->subscriptions && message->publisher != NULL &&
        self->publish(message->publisher, &message->message, NULL))
      note_rejection(self, i, rejected);
  }
}

int has_subscriptions(const Messages *self) {
  for (Py_ssize_t i = 0; i < self->message_count; i++)
    if (*self->messages[i].subscriptions) return 1;
  return 0;
}

static PyObject *fill_method(Messages *self, PyObject *arguments) {
  int sec;
  unsigned int nanosec;
  if (!PyArg_ParseTuple(arguments, "iI", &sec, &nanosec)) return NULL;
  if (!fill_messages(self, sec, nanosec)) {
    PyErr_SetString(PyExc_ValueError, "a duration is not a number of seconds below 2^31");
    return NULL;
  }
  Py_RETURN_NONE;
}

static PyObject *send_method(Messages *self, PyObject *Py_UNUSED(none)) {
  PyObject *rejected = NULL;
  PyThreadState *thread = PyEval_SaveThread();
  send_messages(self, &rejected);
  PyEval_RestoreThread(thread);
  return rejected == NULL ? PyTuple_New(0) : rejected;
}

// ---- module -------------------------------------------------------------------------------------

static PyMethodDef METHODS[] = {
    {"fill", (PyCFunction)fill_method, METH_VARARGS,
     "fill(sec, nanosec): write the numbers, the stamp and the durations of all messages."},
    {"send", (PyCFunction)send_method, METH_NOARGS,
     "send(): send the messages with subscriptions; return (self, index, reason) of each one\n"
     "that the middleware rejects."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot SLOTS[] = {
    {Py_tp_new, create},
    {Py_tp_dealloc, destroy},
    {Py_tp_methods, METHODS},
    {Py_tp_doc, "Messages(buffer, arrays, numbers, stamps, durations, messages, functions)\n\n"
                "Messages of several topics in one buffer; see messages.c for the plan's columns."},
    {0, NULL},
};
static PyType_Spec SPEC = {"mujoco_ros.native.Messages", sizeof(Messages), 0, Py_TPFLAGS_DEFAULT,
                           SLOTS};

PyObject *new_messages_type(void) { return PyType_FromSpec(&SPEC); }
