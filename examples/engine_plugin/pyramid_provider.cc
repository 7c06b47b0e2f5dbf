// A resource provider: "pyramid:0.3.obj" is the file of a pyramid that is 0.3 m high.

#include <mujoco/mujoco.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "mujoco_version.h"

namespace {

constexpr char kPrefix[] = "pyramid";

int Open(mjResource* resource) {
  const double height = std::strtod(resource->name + std::strlen(kPrefix) + 1, nullptr);
  if (!(height > 0)) return 0;  // the simulator names the URI
  char text[400];
  std::snprintf(text, sizeof(text),
                "v -.1 -.1 0\nv .1 -.1 0\nv .1 .1 0\nv -.1 .1 0\nv 0 0 %g\n"
                "f 4 3 2 1\nf 1 2 5\nf 2 3 5\nf 3 4 5\nf 4 1 5\n",
                height);
  resource->data = new std::string(text);
  return 1;
}

int Read(mjResource* resource, const void** buffer) {
  const auto* text = static_cast<const std::string*>(resource->data);
  *buffer = text->data();
  return static_cast<int>(text->size());
}

void Close(mjResource* resource) {
  delete static_cast<std::string*>(resource->data);
  resource->data = nullptr;
}

}  // namespace

mjPLUGIN_LIB_INIT(pyramid_provider) {
  mjpResourceProvider provider;
  mjp_defaultProvider(&provider);
  provider.prefix = kPrefix;
  provider.open = Open;
  provider.read = Read;
  provider.close = Close;
  mjp_registerProvider(&provider);
}
