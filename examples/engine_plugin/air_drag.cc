// A passive force: the drag of the air on bodies, F = -c |v| v at their centres of mass.

#include <mujoco/mujoco.h>

#include <cstdlib>

#include "mujoco_version.h"

namespace {

const char* const kNames[] = {"coefficient"};  // [N s^2/m^2]

void Compute(const mjModel* m, mjData* d, int instance, int) {
  const char* text = mj_getPluginConfig(m, instance, kNames[0]);
  const mjtNum coefficient = text ? std::strtod(text, nullptr) : 0;
  for (int body = 1; body < m->nbody; body++) {
    if (m->body_plugin[body] != instance) continue;
    mjtNum velocity[6], force[3];
    mj_objectVelocity(m, d, mjOBJ_BODY, body, velocity, 0);  // rotation first, along the world
    mju_scl3(force, velocity + 3, -coefficient * mju_norm3(velocity + 3));
    mj_applyFT(m, d, force, nullptr, d->xipos + 3 * body, body, d->qfrc_passive);
  }
}

}  // namespace

mjPLUGIN_LIB_INIT(air_drag) {
  mjpPlugin plugin;
  mjp_defaultPlugin(&plugin);
  plugin.name = "example.air_drag";
  plugin.capabilityflags = mjPLUGIN_PASSIVE;
  plugin.nattribute = 1;
  plugin.attributes = kNames;
  plugin.nstate = [](const mjModel*, int) { return 0; };
  plugin.init = [](const mjModel*, mjData*, int) { return 0; };
  plugin.reset = [](const mjModel*, mjtNum*, void*, int) {};
  plugin.compute = Compute;
  mjp_registerPlugin(&plugin);
}
