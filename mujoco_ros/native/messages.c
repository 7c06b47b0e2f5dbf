// Messages of several topics in one buffer: filled from arrays, and sent.
// Doubles are little-endian, as in CDR of the middleware.

#include <math.h>
#include <string.h>

#include "compiled.h"

enum { DOUBLE, NEGATED_DOUBLE, FLOAT, NEGATED_FLOAT };
static const int64_t SECOND_NS = 1000000000;
static const double LONGEST_S = 2147483648.0;  // seconds of a message are an int32

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

struct Messages {
  const Number *numbers;
  int64_t number_count;
  uint8_t *const *stamps;
  int64_t stamp_count;
  const Duration *durations;
  int64_t duration_count;
  const Message *messages;
  int64_t message_count;
  const Middleware *middleware;
};

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

int fill_messages(const Messages *self, int64_t nanoseconds) {
  int valid = 1;
  for (int64_t i = 0; i < self->number_count; i++) write_number(&self->numbers[i]);
  for (int64_t i = 0; i < self->stamp_count; i++) write_time(self->stamps[i], nanoseconds);
  for (int64_t i = 0; i < self->duration_count; i++) {
    const Duration *duration = &self->durations[i];
    if (fabs(*duration->from) < LONGEST_S)
      write_time(duration->to, (int64_t)rint(*duration->from * 1e9));
    else
      valid = 0;
  }
  return valid;
}

int send_messages(const Messages *self, int64_t nanoseconds, int sending) {
  if (!fill_messages(self, nanoseconds)) return 0;
  for (int64_t i = 0; i < self->message_count; i++) {
    const Message *message = &self->messages[i];
    if (!*message->subscriptions || message->publisher == NULL) continue;
    Parcel parcel = {self->middleware, message->publisher, message->lost, message->length};
    send_parcel(&parcel, message->bytes, sending);
  }
  return 1;
}

int publish_messages(const Messages *self, int64_t nanoseconds, int sending) {
  int valid = send_messages(self, nanoseconds, sending);
  wake_sender();
  return valid;
}
