#include "plan.h"

#include <string.h>

int view_arrays(Arrays *arrays, PyObject *sequence) {
  Py_ssize_t count = PySequence_Size(sequence);
  if (count < 0) return -1;
  arrays->views = PyMem_Calloc((size_t)count + 1, sizeof(Py_buffer));
  if (arrays->views == NULL) return -1;
  for (Py_ssize_t i = 0; i < count; i++) {
    PyObject *array = PySequence_GetItem(sequence, i);
    if (array == NULL) return -1;
    int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT;
    int failed = PyObject_GetBuffer(array, &arrays->views[i], flags);
    Py_DECREF(array);
    if (failed) return -1;
    arrays->count++;
  }
  return 0;
}

void release_arrays(Arrays *arrays) {
  for (Py_ssize_t i = 0; i < arrays->count; i++) PyBuffer_Release(&arrays->views[i]);
  PyMem_Free(arrays->views);
}

static void *elements_at(const Arrays *arrays, int64_t array, int64_t element, int64_t count,
                         const char *formats) {
  if (array < 0 || array >= arrays->count) {
    PyErr_Format(PyExc_ValueError, "array %lld does not exist", (long long)array);
    return NULL;
  }
  const Py_buffer *view = &arrays->views[array];
  if (view->itemsize != 8 || strlen(view->format) != 1 || !strchr(formats, *view->format)) {
    PyErr_Format(PyExc_ValueError, "array %lld has other numbers", (long long)array);
    return NULL;
  }
  int64_t size = view->len / view->itemsize;
  if (element < 0 || count < 0 || count > size || element > size - count) {
    PyErr_Format(PyExc_ValueError, "element %lld is outside array %lld", (long long)element,
                 (long long)array);
    return NULL;
  }
  return (char *)view->buf + 8 * element;
}

double *numbers_at(const Arrays *arrays, int64_t array, int64_t element, int64_t count) {
  return elements_at(arrays, array, element, count, "d");
}

int64_t *integers_at(const Arrays *arrays, int64_t array, int64_t element, int64_t count) {
  return elements_at(arrays, array, element, count, "lq");
}

int read_rows(void *self, PyObject *rows, int columns, size_t size, void *entries,
              Py_ssize_t *count, ReadRow read) {
  Py_buffer view;
  if (PyObject_GetBuffer(rows, &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0) return -1;
  Py_ssize_t bytes = columns * (Py_ssize_t)sizeof(int64_t), wanted = view.len / bytes;
  if (view.itemsize != (Py_ssize_t)sizeof(int64_t) || view.len % bytes) {
    PyErr_SetString(PyExc_ValueError, "the plan is an array of rows of int64");
    PyBuffer_Release(&view);
    return -1;
  }
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

static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "compiled", NULL, -1, NULL,
                                    NULL, NULL, NULL, NULL};

static int add_type(PyObject *module, const char *name, PyObject *type) {
  if (type != NULL && PyModule_AddObjectRef(module, name, type) == 0) return 0;
  Py_XDECREF(type);
  return -1;
}

PyMODINIT_FUNC PyInit_compiled(void) {
  PyObject *module = PyModule_Create(&MODULE);
  if (module == NULL) return NULL;
  PyObject *messages = new_messages_type();
  messages_type = (PyTypeObject *)messages;
  if (add_type(module, "Messages", messages) < 0 ||
      add_type(module, "Steps", new_steps_type()) < 0 ||
      PyModule_AddIntConstant(module, "ENGINE_VERSION", ENGINE_VERSION) < 0) {
    Py_DECREF(module);
    return NULL;
  }
  return module;
}
