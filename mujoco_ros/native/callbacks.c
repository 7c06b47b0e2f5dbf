// Callbacks of the engine that call C functions as hooks, without Python.
//
// extensions/callbacks.py fills in the gates. A callback serves the model in its gate, and for all
// others it returns what the engine does without it.

#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "compiled.h"

#define LARGEST 1e150  // as hook_table._LARGEST
#define ALWAYS_INLINE static inline __attribute__((always_inline))

typedef struct {  // what an extension shares with its hooks
  int is_enabled;
  double spent;  // [s]
} Cell;

typedef struct {  // a C function as a hook
  void *function;
  Cell *cell;
  const uint8_t *own;      // flags of own elements; for arrays, `length` of them for each stage
  const uint8_t *present;  // flags of the stages with own elements
  double *array, *saved;   // the array that the hook writes, and space for a copy
  int64_t length;
} Entry;

typedef struct {              // the model that a callback serves, and its hooks
  const void *_Atomic model;  // NULL while it serves none; other threads compare it
  const void *data;           // the state that is stepped
  int *busy;                  // not zero while a method or hook is called
  void *slow;                 // the callback in Python, for other data of the model
  void (*report)(int64_t hook, int element, double number);  // a number cannot be used
  int64_t count;
  Entry *entries;
} Gate;

typedef void (*Act)(const void *, void *);
typedef void (*ActInStage)(const void *, void *, int);
typedef double (*Law)(const void *, void *, int);
typedef int (*Filter)(const void *, void *, int, int);
typedef enum { OTHER_MODEL, OTHER_DATA, OWN } Owner;

ALWAYS_INLINE Owner enter(Gate *gate, const void *model, const void *data) {
  if (atomic_load_explicit(&gate->model, memory_order_relaxed) != model) return OTHER_MODEL;
  if (gate->data != data) return OTHER_DATA;
  if (*gate->busy) return OTHER_MODEL;  // a hook evaluates its own model: without hooks
  *gate->busy = 1;
  return OWN;
}

ALWAYS_INLINE void act(void *function, const void *model, void *data, int stage) {
  if (stage)
    ((ActInStage)function)(model, data, stage);
  else
    ((Act)function)(model, data);
}

ALWAYS_INLINE void write_array(Gate *gate, const void *model, void *data, int stage) {
  Owner owner = enter(gate, model, data);
  if (owner == OTHER_DATA) act(gate->slow, model, data, stage);
  if (owner != OWN) return;
  for (int64_t i = 0; i < gate->count; i++) {
    Entry *entry = &gate->entries[i];
    if (!entry->cell->is_enabled || !entry->present[stage]) continue;
    double start = wall_time(), sum = 0.0;
    const uint8_t *own = entry->own + stage * entry->length;
    memcpy(entry->saved, entry->array, (size_t)entry->length * sizeof(double));
    act(entry->function, model, data, stage);
    for (int64_t j = 0; j < entry->length; j++) {
      if (own[j])
        sum += entry->array[j] * entry->array[j];
      else
        entry->array[j] = entry->saved[j];
    }
    if (!(sum < INFINITY)) gate->report(i, stage, 0.0);
    entry->cell->spent += wall_time() - start;
  }
  *gate->busy = 0;
}

ALWAYS_INLINE double choose_number(Gate *gate, const void *model, void *data, int first, int second,
                                   int is_filter, double otherwise) {
  Owner owner = enter(gate, model, data);
  if (owner == OTHER_DATA)
    return is_filter ? ((Filter)gate->slow)(model, data, first, second)
                     : ((Law)gate->slow)(model, data, first);
  if (owner != OWN) return otherwise;
  double result = otherwise;
  int is_found = 0;
  for (int64_t i = 0; i < gate->count && !is_found; i++) {
    Entry *entry = &gate->entries[i];
    if (!entry->cell->is_enabled) continue;
    if (!entry->own[first] && !(is_filter && entry->own[second])) continue;
    double start = wall_time();
    double value = is_filter ? ((Filter)entry->function)(model, data, first, second)
                             : ((Law)entry->function)(model, data, first);
    if (!(fabs(value) < LARGEST)) {
      gate->report(i, first, value);
    } else if (!is_filter || value) {
      result = value;
      is_found = 1;
    }
    entry->cell->spent += wall_time() - start;
  }
  *gate->busy = 0;
  return result;
}

Gate control_gate, passive_gate, sensor_gate, act_dyn_gate, act_gain_gate, act_bias_gate;

void control(const void *model, void *data) { write_array(&control_gate, model, data, 0); }

void passive(const void *model, void *data) { write_array(&passive_gate, model, data, 0); }

void sensor(const void *model, void *data, int stage) {
  write_array(&sensor_gate, model, data, stage);
}

double act_dyn(const void *model, void *data, int actuator) {
  return choose_number(&act_dyn_gate, model, data, actuator, 0, 0, 0.0);
}

double act_gain(const void *model, void *data, int actuator) {
  return choose_number(&act_gain_gate, model, data, actuator, 0, 0, 1.0);
}

double act_bias(const void *model, void *data, int actuator) {
  return choose_number(&act_bias_gate, model, data, actuator, 0, 0, 0.0);
}

// The engine's own rule is evaluated here, also for other models.
Gate contact_filter_gate;
int64_t contype_at, conaffinity_at;  // where mjModel has the addresses of the masks [bytes]

int contact_filter(const void *model, void *data, int first, int second) {
  const int *types = *(const int *const *)((const char *)model + contype_at);
  const int *affinities = *(const int *const *)((const char *)model + conaffinity_at);
  if (!((types[first] & affinities[second]) || (types[second] & affinities[first]))) return 1;
  return (int)choose_number(&contact_filter_gate, model, data, first, second, 1, 0.0);
}
