// Plans that Python makes: rows of integers that name elements of arrays. All are checked when the
// plan is read, so that no step can read or write outside the arrays.

#ifndef MUJOCO_ROS_PLAN_H_
#define MUJOCO_ROS_PLAN_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

typedef struct {  // arrays that stay where they are as long as the plan exists
  Py_buffer *views;
  Py_ssize_t count;
} Arrays;

// View C-contiguous arrays; return 0, or -1 with an error.
int view_arrays(Arrays *arrays, PyObject *sequence);
void release_arrays(Arrays *arrays);

// Return the address of `count` numbers of an array from an element on; NULL with an error.
double *numbers_at(const Arrays *arrays, int64_t array, int64_t element, int64_t count);
// As `numbers_at`, for integers.
int64_t *integers_at(const Arrays *arrays, int64_t array, int64_t element, int64_t count);

// Allocate an entry for each row of a plan, at `*entries`, and read the rows into them.
typedef int (*ReadRow)(void *self, const int64_t *row, Py_ssize_t at);
int read_rows(void *self, PyObject *rows, int columns, size_t size, void *entries,
              Py_ssize_t *count, ReadRow read);

// ---- messages.c ---------------------------------------------------------------------------------

typedef struct Messages Messages;
extern PyTypeObject *messages_type;
PyObject *new_messages_type(void);

// Write the numbers and times of all messages; return whether every duration has a value.
int fill_messages(Messages *messages, int32_t sec, uint32_t nanosec);
// Send the messages with subscriptions; append (messages, index, reason) to `*rejected`, a list or
// NULL, for each that the middleware rejects. Neither needs the interpreter's lock.
void send_messages(Messages *messages, PyObject **rejected);
int has_subscriptions(const Messages *messages);

// ---- step.c -------------------------------------------------------------------------------------

PyObject *new_steps_type(void);
extern const long ENGINE_VERSION;  // of the headers

#endif  // MUJOCO_ROS_PLAN_H_
