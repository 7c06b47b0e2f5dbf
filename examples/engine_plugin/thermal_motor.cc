// A current-driven motor whose winding warms up, with a sensor of its temperature.
//
// The control is the current I [A] and the torque is k I. The temperature T is state of the plugin:
//   C dT/dt = R I^2 - (T - T_ambient) / R_thermal
// Above the maximum temperature the current is switched off until the winding has cooled.

#include <mujoco/mujoco.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "mujoco_version.h"

namespace {

struct Attribute {
  const char* name;
  mjtNum standard;
};
constexpr Attribute kTorqueConstant{"torque_constant", 0.1};    // [N m/A]
constexpr Attribute kResistance{"resistance", 0.5};             // [Ohm]
constexpr Attribute kHeatCapacity{"heat_capacity", 20};         // [J/K]
constexpr Attribute kThermalResistance{"thermal_resistance", 2};  // [K/W]
constexpr Attribute kAmbient{"ambient", 25};                    // [deg C]
constexpr Attribute kMaximum{"maximum", 120};                   // [deg C]
const char* const kNames[] = {kTorqueConstant.name,    kResistance.name, kHeatCapacity.name,
                              kThermalResistance.name, kAmbient.name,    kMaximum.name};

// Attributes are text of the model; read in each step, a change of them takes effect at once.
mjtNum Get(const mjModel* m, int instance, const Attribute& attribute) {
  const char* text = mj_getPluginConfig(m, instance, attribute.name);
  return text && *text ? std::strtod(text, nullptr) : attribute.standard;
}

int Init(const mjModel* m, mjData*, int instance) {
  for (const Attribute& it : {kHeatCapacity, kThermalResistance}) {
    if (!(Get(m, instance, it) > 0)) {
      mju_warning("thermal_motor: attribute '%s' must be positive", it.name);
      return -1;
    }
  }
  return 0;
}

void Reset(const mjModel* m, mjtNum* state, void*, int instance) {
  state[0] = Get(m, instance, kAmbient);
}

mjtNum Current(const mjModel* m, const mjData* d, int instance, int actuator) {
  const mjtNum* range = m->actuator_ctrlrange + 2 * actuator;
  const mjtNum ctrl = d->ctrl[actuator];
  const bool is_hot = d->plugin_state[m->plugin_stateadr[instance]] > Get(m, instance, kMaximum);
  if (is_hot) return 0;
  return m->actuator_ctrllimited[actuator] ? std::clamp(ctrl, range[0], range[1]) : ctrl;
}

void Compute(const mjModel* m, mjData* d, int instance, int capability) {
  if (capability == mjPLUGIN_ACTUATOR) {
    const mjtNum constant = Get(m, instance, kTorqueConstant);
    for (int i = 0; i < m->nu; i++) {
      if (m->actuator_plugin[i] == instance) {
        d->actuator_force[i] = constant * Current(m, d, instance, i);
      }
    }
  } else {
    for (int i = 0; i < m->nsensor; i++) {
      if (m->sensor_type[i] == mjSENS_PLUGIN && m->sensor_plugin[i] == instance) {
        d->sensordata[m->sensor_adr[i]] = d->plugin_state[m->plugin_stateadr[instance]];
      }
    }
  }
}

// Integrates the temperature exactly for a constant current.
void Advance(const mjModel* m, mjData* d, int instance) {
  const mjtNum rise = Get(m, instance, kThermalResistance);
  const mjtNum time_constant = rise * Get(m, instance, kHeatCapacity);
  mjtNum power = 0;
  for (int i = 0; i < m->nu; i++) {
    if (m->actuator_plugin[i] == instance) {
      power += Get(m, instance, kResistance) * std::pow(Current(m, d, instance, i), 2);
    }
  }
  const mjtNum limit = Get(m, instance, kAmbient) + rise * power;
  mjtNum* temperature = d->plugin_state + m->plugin_stateadr[instance];
  *temperature = limit + (*temperature - limit) * std::exp(-m->opt.timestep / time_constant);
}

}  // namespace

mjPLUGIN_LIB_INIT(thermal_motor) {
  mjpPlugin plugin;
  mjp_defaultPlugin(&plugin);
  plugin.name = "example.thermal_motor";
  plugin.capabilityflags = mjPLUGIN_ACTUATOR | mjPLUGIN_SENSOR;
  plugin.needstage = mjSTAGE_POS;
  plugin.nattribute = sizeof(kNames) / sizeof(kNames[0]);
  plugin.attributes = kNames;
  plugin.nstate = [](const mjModel*, int) { return 1; };
  plugin.nsensordata = [](const mjModel*, int, int) { return 1; };
  plugin.init = Init;
  plugin.reset = Reset;
  plugin.compute = Compute;
  plugin.advance = Advance;
  mjp_registerPlugin(&plugin);
}
