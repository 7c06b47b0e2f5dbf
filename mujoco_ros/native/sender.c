// Messages on their way to the middleware: a thread sends them, in order, so that no step waits.

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "compiled.h"

enum { ROOM = 1 << 20 };  // bytes of messages that wait; a longer one is sent by the caller

typedef struct {
  size_t used;
  uint8_t bytes[ROOM];
} Queue;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, taken = PTHREAD_COND_INITIALIZER;
static Queue queues[2], *waiting = &queues[0], *leaving = &queues[1];
static int is_started, is_busy;
static char reason[sizeof(ErrorText)] = "more wait than it takes";

static void reject(const Parcel *parcel, const char *text) {
  pthread_mutex_lock(&lock);
  if (text) snprintf(reason, sizeof reason, "%s", text);
  ++*parcel->lost;
  pthread_mutex_unlock(&lock);
}

static void deliver(const Parcel *parcel, const uint8_t *bytes) {
  const Middleware *middleware = parcel->middleware;
  SerializedMessage message = {bytes, parcel->length, parcel->length, {0}};
  if (!middleware->publish(parcel->publisher, &message, NULL)) return;
  ErrorText error = middleware->error();
  middleware->reset();
  error.text[sizeof error.text - 1] = '\0';
  reject(parcel, error.text);
}

static void *send_queues(void *none) {
  pthread_mutex_lock(&lock);
  for (;;) {
    is_busy = waiting->used > 0;
    pthread_cond_broadcast(&taken);
    if (!is_busy) {
      pthread_cond_wait(&filled, &lock);
      continue;
    }
    Queue *queue = leaving;
    leaving = waiting;
    waiting = queue;
    pthread_mutex_unlock(&lock);
    Parcel parcel;
    for (size_t at = 0; at < leaving->used; at += parcel.length) {
      memcpy(&parcel, leaving->bytes + at, sizeof parcel);
      at += sizeof parcel;
      deliver(&parcel, leaving->bytes + at);
    }
    leaving->used = 0;
    pthread_mutex_lock(&lock);
  }
  return none;
}

static void forget(void) {  // in the child of a fork, which has no other thread
  pthread_mutex_init(&lock, NULL);
  pthread_cond_init(&filled, NULL);
  pthread_cond_init(&taken, NULL);
  queues[0].used = queues[1].used = 0;
  is_started = is_busy = 0;
}

void start_sender(void) {
  static int forgets;
  pthread_t thread;
  if (!forgets) forgets = !pthread_atfork(NULL, NULL, forget);
  if (is_started || !forgets || pthread_create(&thread, NULL, send_queues, NULL)) return;
  is_started = 1;
  pthread_detach(thread);
}

void wake_sender(void) {
  pthread_mutex_lock(&lock);
  if (waiting->used && !is_busy) pthread_cond_signal(&filled);
  pthread_mutex_unlock(&lock);
}

void flush_sender(void) {
  pthread_mutex_lock(&lock);
  while (waiting->used || is_busy) {
    pthread_cond_signal(&filled);
    pthread_cond_wait(&taken, &lock);
  }
  pthread_mutex_unlock(&lock);
}

void send_parcel(const Parcel *parcel, const uint8_t *bytes, int sending) {
  size_t size = sizeof *parcel + parcel->length;
  if (!is_started || sending == AT_ONCE || size > ROOM) {
    flush_sender();
    deliver(parcel, bytes);
    return;
  }
  pthread_mutex_lock(&lock);
  while (sending == WAITING && waiting->used + size > ROOM) {
    pthread_cond_signal(&filled);
    pthread_cond_wait(&taken, &lock);
  }
  int fits = waiting->used + size <= ROOM;
  if (fits) {
    memcpy(waiting->bytes + waiting->used, parcel, sizeof *parcel);
    memcpy(waiting->bytes + waiting->used + sizeof *parcel, bytes, parcel->length);
    waiting->used += size;
  }
  pthread_mutex_unlock(&lock);
  if (!fits) reject(parcel, NULL);
}

const char *last_rejection(void) { return reason; }
