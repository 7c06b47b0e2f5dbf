// Rows of the tables that Python makes and checks (plan.py): structs of words, whose pointers are
// addresses in arrays that Python keeps. All functions run without the interpreter's lock.

#ifndef MUJOCO_ROS_COMPILED_H_
#define MUJOCO_ROS_COMPILED_H_

#include <stddef.h>
#include <stdint.h>
#include <time.h>

_Static_assert(sizeof(void *) == sizeof(int64_t), "a word of a table is an address");

#ifdef __APPLE__
#define STEADY_CLOCK CLOCK_UPTIME_RAW
#else
#define STEADY_CLOCK CLOCK_MONOTONIC
#endif

static inline double wall_time(void) {  // as time.perf_counter [s]
  struct timespec time;
  clock_gettime(STEADY_CLOCK, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// ---- messages.c ---------------------------------------------------------------------------------

typedef struct Messages Messages;

// Write the numbers and times of all messages; return whether every duration has a value.
int fill_messages(const Messages *messages, int64_t nanoseconds);
// Fill the messages, and send those with subscriptions before the next `wake_sender`; return as
// `fill_messages`, without which nothing is sent.
int send_messages(const Messages *messages, int64_t nanoseconds, int sending);

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
void send_parcel(const Parcel *parcel, const uint8_t *bytes, int sending);
void wake_sender(void);
void flush_sender(void);  // wait until everything is sent
const char *last_rejection(void);

#endif  // MUJOCO_ROS_COMPILED_H_
