#include <string.h>
#include <time.h>

#include "plan.h"

#ifdef __APPLE__
#define STEADY_CLOCK CLOCK_UPTIME_RAW
#else
#define STEADY_CLOCK CLOCK_MONOTONIC
#endif

double wall_time(void) {
  struct timespec time;
  clock_gettime(STEADY_CLOCK, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int take_table(Table *table, PyObject *array, size_t size) {
  Py_buffer view;
  if (PyObject_GetBuffer(array, &view, PyBUF_C_CONTIGUOUS) < 0) return -1;
  int fits = view.len % (Py_ssize_t)size == 0;
  if (fits) {
    Py_INCREF(array);  // an array of NumPy stays where it is
    *table = (Table){array, view.buf, view.len / (Py_ssize_t)size};
  } else {
    PyErr_SetString(PyExc_ValueError, "not the table of a plan");
  }
  PyBuffer_Release(&view);
  return fits ? 0 : -1;
}

int take_tables(Table *tables, const size_t *sizes, Py_ssize_t count, PyObject *arrays) {
  if (PyTuple_Size(arrays) != count) {
    PyErr_SetString(PyExc_TypeError, "another number of tables");
    return -1;
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    Table taken;
    if (take_table(&taken, PyTuple_GetItem(arrays, i), sizes[i]) < 0) return -1;
    release_tables(&tables[i], 1);
    tables[i] = taken;
  }
  return 0;
}

void release_tables(Table *tables, Py_ssize_t count) {
  for (Py_ssize_t i = 0; i < count; i++) {
    PyObject *owner = tables[i].owner;
    memset(&tables[i], 0, sizeof tables[i]);
    Py_XDECREF(owner);
  }
}

void free_object(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(object);
  Py_DECREF(type);
}

static PyObject *flush(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none)) {
  PyThreadState *thread = PyEval_SaveThread();
  flush_sender();
  PyEval_RestoreThread(thread);
  Py_RETURN_NONE;
}

static PyObject *reason(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none)) {
  return PyUnicode_FromString(last_rejection());
}

static PyMethodDef METHODS[] = {{"flush", flush, METH_NOARGS, NULL},
                                {"reason", reason, METH_NOARGS, NULL},
                                {NULL, NULL, 0, NULL}};
static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "compiled", NULL, -1, METHODS,
                                    NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_compiled(void) {
  PyObject *module = PyModule_Create(&MODULE);
  PyObject *messages = new_messages_type(), *steps = new_steps_type();
  int failed = module == NULL || messages == NULL || steps == NULL ||
               PyModule_AddObjectRef(module, "Messages", messages) < 0 ||
               PyModule_AddObjectRef(module, "Steps", steps) < 0 ||
               PyModule_AddIntConstant(module, "ENGINE_VERSION", ENGINE_VERSION) < 0;
  Py_XDECREF(messages);
  Py_XDECREF(steps);
  if (failed) Py_CLEAR(module);
  return module;
}
