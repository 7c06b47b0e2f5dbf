// Messages of several topics in one buffer: filled from arrays and sent without the interpreter.
//
// Every address comes from a plan that the constructor checks against the buffers that it holds, so
// no call can read or write outside them. Doubles are little-endian, as in CDR of the middleware.

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { DOUBLE, NEGATED_DOUBLE, FLOAT, NEGATED_FLOAT, FORMS };
enum { NUMBER_COLUMNS = 4, DURATION_COLUMNS = 3, MESSAGE_COLUMNS = 3 };
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
  SerializedMessage message;
} Message;

typedef struct {
  PyObject_HEAD
  Py_buffer buffer;
  Py_buffer *arrays;
  Py_ssize_t array_count;
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
} Messages;

// ---- plan ---------------------------------------------------------------------------------------

// View a C-contiguous array of 8-byte numbers; return the number of rows, or -1 with an error.
static Py_ssize_t view_rows(PyObject *object, int columns, Py_buffer *view) {
  if (PyObject_GetBuffer(object, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0) return -1;
  Py_ssize_t row = columns * (Py_ssize_t)sizeof(int64_t);
  if (view->itemsize != (Py_ssize_t)sizeof(int64_t) || view->len % row) {
    PyErr_SetString(PyExc_ValueError, "the plan is an array of rows of int64");
    PyBuffer_Release(view);
    return -1;
  }
  return view->len / row;
}

static uint8_t *destination(Messages *self, int64_t offset, int64_t size) {
  if (offset < 0 || size < 0 || offset > self->buffer.len - size) {
    PyErr_Format(PyExc_ValueError, "offset %lld is outside the buffer", (long long)offset);
    return NULL;
  }
  return (uint8_t *)self->buffer.buf + offset;
}

static const double *source(Messages *self, int64_t array, int64_t element) {
  if (array < 0 || array >= self->array_count) {
    PyErr_Format(PyExc_ValueError, "array %lld does not exist", (long long)array);
    return NULL;
  }
  const Py_buffer *view = &self->arrays[array];
  if (element < 0 || element >= view->len / (Py_ssize_t)sizeof(double)) {
    PyErr_Format(PyExc_ValueError, "element %lld is outside array %lld", (long long)element,
                 (long long)array);
    return NULL;
  }
  return (const double *)view->buf + element;
}

// Readers of one row each; return 0, or -1 with an error.

static int read_number(Messages *self, const int64_t *row, Py_ssize_t at) {
  Number *number = &self->numbers[at];
  if (row[3] < 0 || row[3] >= FORMS) {
    PyErr_SetString(PyExc_ValueError, "a form does not exist");
    return -1;
  }
  number->form = (int)row[3];
  number->from = source(self, row[0], row[1]);
  if (number->from == NULL) return -1;
  number->to = destination(self, row[2], row[3] < FLOAT ? sizeof(double) : sizeof(float));
  return number->to == NULL ? -1 : 0;
}

static int read_stamp(Messages *self, const int64_t *row, Py_ssize_t at) {
  self->stamps[at] = destination(self, row[0], 8);
  return self->stamps[at] == NULL ? -1 : 0;
}

static int read_duration(Messages *self, const int64_t *row, Py_ssize_t at) {
  Duration *duration = &self->durations[at];
  duration->from = source(self, row[0], row[1]);
  if (duration->from == NULL) return -1;
  duration->to = destination(self, row[2], 8);
  return duration->to == NULL ? -1 : 0;
}

static int read_message(Messages *self, const int64_t *row, Py_ssize_t at) {
  Message *message = &self->messages[at];
  message->message.buffer = destination(self, row[0], row[1]);
  message->message.length = message->message.capacity = (size_t)row[1];
  message->publisher = (const void *)(intptr_t)row[2];
  return message->message.buffer == NULL ? -1 : 0;
}

// Allocate an entry for each row, at `*entries`, and read the rows into them.
static int plan(Messages *self, PyObject *rows, int columns, size_t size, void *entries,
                Py_ssize_t *count, int (*read)(Messages *, const int64_t *, Py_ssize_t)) {
  Py_buffer view;
  Py_ssize_t wanted = view_rows(rows, columns, &view);
  if (wanted < 0) return -1;
  void *allocated = PyMem_Calloc((size_t)wanted + 1, size);
  memcpy(entries, &allocated, sizeof allocated);
  const int64_t *row = view.buf;
  int failed = allocated == NULL;
  for (; !failed && *count < wanted; row += columns) {
    failed = read(self, row, *count);
    *count += !failed;
  }
  PyBuffer_Release(&view);
  return failed ? -1 : 0;
}

static int view_arrays(Messages *self, PyObject *arrays) {
  Py_ssize_t count = PySequence_Size(arrays);
  if (count < 0) return -1;
  self->arrays = PyMem_Calloc((size_t)count + 1, sizeof(Py_buffer));
  if (self->arrays == NULL) return -1;
  for (Py_ssize_t i = 0; i < count; i++) {
    PyObject *array = PySequence_GetItem(arrays, i);
    if (array == NULL) return -1;
    int failed = PyObject_GetBuffer(array, &self->arrays[i], PyBUF_C_CONTIGUOUS | PyBUF_FORMAT);
    Py_DECREF(array);
    if (failed) return -1;
    self->array_count++;
    if (strcmp(self->arrays[i].format, "d")) {
      PyErr_Format(PyExc_ValueError, "array %zd is not of float64", i);
      return -1;
    }
  }
  return 0;
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
  if (PyObject_GetBuffer(buffer, &self->buffer, flags) < 0 || view_arrays(self, arrays) < 0 ||
      plan(self, numbers, NUMBER_COLUMNS, sizeof(Number), &self->numbers, &self->number_count,
           read_number) < 0 ||
      plan(self, stamps, 1, sizeof(uint8_t *), &self->stamps, &self->stamp_count, read_stamp) < 0 ||
      plan(self, durations, DURATION_COLUMNS, sizeof(Duration), &self->durations,
           &self->duration_count, read_duration) < 0 ||
      plan(self, messages, MESSAGE_COLUMNS, sizeof(Message), &self->messages, &self->message_count,
           read_message) < 0) {
    if (!PyErr_Occurred()) PyErr_NoMemory();
    Py_DECREF(self);
    return NULL;
  }
  return (PyObject *)self;
}

static void destroy(Messages *self) {
  PyTypeObject *type = Py_TYPE((PyObject *)self);
  for (Py_ssize_t i = 0; i < self->array_count; i++) PyBuffer_Release(&self->arrays[i]);
  if (self->buffer.obj != NULL) PyBuffer_Release(&self->buffer);
  PyMem_Free(self->arrays);
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

// Write the numbers and times of all messages; return whether every duration has a value.
static int fill(Messages *self, int32_t sec, uint32_t nanosec) {
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

static PyObject *rejection(Messages *self, Py_ssize_t index) {
  ErrorText error = self->error();
  self->reset();
  error.text[sizeof error.text - 1] = '\0';
  return Py_BuildValue("(ns)", index, error.text);
}

// Send the messages of a set; return a list of (index, reason) of those that are rejected.
static PyObject *send(Messages *self, const uint8_t *wanted) {
  PyObject *rejected = NULL;
  PyThreadState *thread = PyEval_SaveThread();
  for (Py_ssize_t i = 0; i < self->message_count; i++) {
    if (!wanted[i] || !self->publish(self->messages[i].publisher, &self->messages[i].message, NULL))
      continue;
    PyEval_RestoreThread(thread);
    if (rejected == NULL) rejected = PyList_New(0);
    PyObject *pair = rejected == NULL ? NULL : rejection(self, i);
    int failed = pair == NULL || PyList_Append(rejected, pair) < 0;
    Py_XDECREF(pair);
    if (failed) {
      Py_XDECREF(rejected);
      return NULL;
    }
    thread = PyEval_SaveThread();
  }
  PyEval_RestoreThread(thread);
  return rejected == NULL ? PyTuple_New(0) : rejected;
}

static PyObject *fill_method(Messages *self, PyObject *arguments) {
  int sec;
  unsigned int nanosec;
  if (!PyArg_ParseTuple(arguments, "iI", &sec, &nanosec)) return NULL;
  if (!fill(self, sec, nanosec)) {
    PyErr_SetString(PyExc_ValueError, "a duration is not a number of seconds below 2^31");
    return NULL;
  }
  Py_RETURN_NONE;
}

static PyObject *send_method(Messages *self, PyObject *wanted) {
  char *flags;
  Py_ssize_t count;
  if (PyBytes_AsStringAndSize(wanted, &flags, &count) < 0) return NULL;
  if (count != self->message_count) {
    PyErr_Format(PyExc_ValueError, "%zd flags, but %zd messages", count, self->message_count);
    return NULL;
  }
  return send(self, (const uint8_t *)flags);
}

// ---- module -------------------------------------------------------------------------------------

static PyMethodDef METHODS[] = {
    {"fill", (PyCFunction)fill_method, METH_VARARGS,
     "fill(sec, nanosec): write the numbers, the stamp and the durations of all messages."},
    {"send", (PyCFunction)send_method, METH_O,
     "send(wanted): send the messages whose flag in `wanted` (bytes) is set;\n"
     "return (index, reason) of each message that the middleware rejects."},
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
static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "compiled", NULL, -1, NULL,
                                    NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_compiled(void) {
  PyObject *module = PyModule_Create(&MODULE);
  PyObject *type = module == NULL ? NULL : PyType_FromSpec(&SPEC);
  if (type == NULL || PyModule_AddObject(module, "Messages", type) < 0) {
    Py_XDECREF(type);
    Py_XDECREF(module);
    return NULL;
  }
  return module;
}
