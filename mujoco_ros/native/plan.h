// Plans: tables of int64 that Python makes and checks (native/plan.py). A row of a table is a
// struct of the C code, whose pointers are addresses in arrays that the plan keeps.

#ifndef MUJOCO_ROS_PLAN_H_
#define MUJOCO_ROS_PLAN_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

typedef struct {
  PyObject *owner;  // keeps the table and all that its rows point to
  void *rows;
  Py_ssize_t count;
} Table;

_Static_assert(sizeof(void *) == sizeof(int64_t), "a word of a table is an address");

// Take the rows of `size` bytes of an array; return 0, or -1 with an error.
int take_table(Table *table, PyObject *array, size_t size);
// Replace `count` tables by those in a tuple, whose rows have these sizes.
int take_tables(Table *tables, const size_t *sizes, Py_ssize_t count, PyObject *arrays);
void release_tables(Table *tables, Py_ssize_t count);
// Free an object of a type from `PyType_FromSpec`.
void free_object(PyObject *object);
double wall_time(void);  // as time.perf_counter [s]

// ---- messages.c ---------------------------------------------------------------------------------

typedef struct Messages Messages;
PyObject *new_messages_type(void);

// Write the numbers and times of all messages; return whether every duration has a value.
int fill_messages(Messages *messages, int64_t nanoseconds);
// Send the messages with subscriptions. Neither needs the interpreter's lock.
void send_messages(Messages *messages, int sending);

// ---- sender.c -----------------------------------------------------------------------------------

// rcutils_uint8_array_t and rcutils_error_string_t (rcutils/types/uint8_array.h, error_handling.h).
typedef struct {
  const uint8_t *buffer;
  size_t length, capacity;
  void *allocator[5];
} SerializedMessage;
typedef struct {
  char text[1024];
} ErrorText;
typedef struct {
  int (*publish)(const void *publisher, const SerializedMessage *, void *allocation);
  ErrorText (*error)(void);
  void (*reset)(void);
} Middleware;
typedef struct {  // what comes before the bytes of a message
  const Middleware *middleware;
  const void *publisher;
  int64_t *lost;  // number of messages that the middleware rejected, which is increased
  size_t length;
} Parcel;

// Sending by the caller, or by a thread: one for which there is no room is awaited, or rejected.
enum { AT_ONCE, WAITING, IN_TIME };

void start_sender(void);
// Send a message in its turn; several may come before `wake_sender`.
void send_parcel(const Parcel *parcel, const uint8_t *bytes, int sending);
void wake_sender(void);
void flush_sender(void);  // wait until everything is sent
const char *last_rejection(void);

// ---- steps.c ------------------------------------------------------------------------------------

PyObject *new_steps_type(void);
extern const long ENGINE_VERSION;  // of the headers

#endif  // MUJOCO_ROS_PLAN_H_
