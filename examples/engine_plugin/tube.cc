// A shape of its own as a signed distance field: a tube along z, open at both ends.
//
// The distance of a point is that of a rectangle in the plane of radius and height.

#include <mujoco/mujoco.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "mujoco_version.h"

namespace {

const char* const kNames[] = {"inner", "outer", "half_length"};  // radii and length [m]
constexpr mjtNum kStandard[] = {0.04, 0.05, 0.1};
constexpr int kCount = 3;

mjtNum Distance(const mjtNum point[3], const mjtNum* size) {
  const mjtNum radius = std::hypot(point[0], point[1]);
  const mjtNum across = std::abs(radius - (size[0] + size[1]) / 2) - (size[1] - size[0]) / 2;
  const mjtNum along = std::abs(point[2]) - size[2];
  const mjtNum outside = std::hypot(std::max<mjtNum>(across, 0), std::max<mjtNum>(along, 0));
  return outside + std::min<mjtNum>(std::max(across, along), 0);
}

void Size(mjtNum size[], const char*[], const char* values[]) {
  for (int i = 0; i < kCount; i++) {
    size[i] = values[i] && *values[i] ? std::strtod(values[i], nullptr) : kStandard[i];
  }
}

// MuJoCo keeps the sizes of each instance for the collisions of a step here.
mjtNum DistanceOf(const mjtNum point[3], const mjData* d, int instance) {
  return Distance(point, reinterpret_cast<const mjtNum*>(d->plugin_data[instance]));
}

void Gradient(mjtNum gradient[3], const mjtNum point[3], const mjData* d, int instance) {
  constexpr mjtNum kStep = 1e-8;
  for (int i = 0; i < 3; i++) {
    mjtNum there[3] = {point[0], point[1], point[2]};
    there[i] += kStep;
    gradient[i] = (DistanceOf(there, d, instance) - DistanceOf(point, d, instance)) / kStep;
  }
}

int Init(const mjModel* m, mjData* d, int instance) {
  const char* values[kCount];
  for (int i = 0; i < kCount; i++) values[i] = mj_getPluginConfig(m, instance, kNames[i]);
  auto* size = new mjtNum[kCount];
  Size(size, nullptr, values);
  if (!(0 < size[0] && size[0] < size[1] && 0 < size[2])) {
    mju_warning("tube: it needs 0 < inner < outer and 0 < half_length");
    delete[] size;
    return -1;
  }
  d->plugin_data[instance] = reinterpret_cast<uintptr_t>(size);
  return 0;
}

}  // namespace

mjPLUGIN_LIB_INIT(tube) {
  mjpPlugin plugin;
  mjp_defaultPlugin(&plugin);
  plugin.name = "example.tube";
  plugin.capabilityflags = mjPLUGIN_SDF;
  plugin.nattribute = kCount;
  plugin.attributes = kNames;
  plugin.nstate = [](const mjModel*, int) { return 0; };
  plugin.init = Init;
  plugin.destroy = [](mjData* d, int instance) {
    delete[] reinterpret_cast<mjtNum*>(d->plugin_data[instance]);
    d->plugin_data[instance] = 0;
  };
  plugin.reset = [](const mjModel*, mjtNum*, void*, int) {};
  plugin.compute = [](const mjModel*, mjData*, int, int) {};
  plugin.sdf_distance = DistanceOf;
  plugin.sdf_gradient = Gradient;
  plugin.sdf_staticdistance = Distance;
  plugin.sdf_attribute = Size;
  plugin.sdf_aabb = [](mjtNum aabb[6], const mjtNum* size) {
    const mjtNum box[6] = {0, 0, 0, size[1], size[1], size[2]};
    std::copy_n(box, 6, aabb);
  };
  mjp_registerPlugin(&plugin);
}
