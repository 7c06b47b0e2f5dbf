// A decoder of a mesh format: each line of a file *.tri has the nine coordinates of a triangle [m].

#include <mujoco/mujoco.h>

#include <cstdio>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "mujoco_version.h"

namespace {

constexpr char kExtension[] = ".tri";

int CanDecode(const mjResource* resource) {
  const char* end = std::strrchr(resource->name, '.');
  return end && !std::strcmp(end, kExtension);
}

mjSpec* Decode(mjResource* resource, const mjVFS*, char* error, int error_size) {
  const void* content = nullptr;
  const int size = mju_readResource(resource, &content);
  std::istringstream text(std::string(static_cast<const char*>(content), size < 0 ? 0 : size));
  std::vector<float> vertices;
  std::vector<int> faces;
  for (float number; text >> number;) vertices.push_back(number);
  if (vertices.empty() || vertices.size() % 9 || !text.eof()) {
    if (error) std::snprintf(error, error_size, "%s needs nine numbers a line", resource->name);
    return nullptr;
  }
  for (int i = 0; i < static_cast<int>(vertices.size()) / 3; i++) faces.push_back(i);
  mjSpec* spec = mj_makeSpec();
  mjsMesh* mesh = mjs_addMesh(spec, nullptr);
  mjs_setFloat(mesh->uservert, vertices.data(), static_cast<int>(vertices.size()));
  mjs_setInt(mesh->userface, faces.data(), static_cast<int>(faces.size()));
  return spec;
}

}  // namespace

mjPLUGIN_LIB_INIT(triangles_decoder) {
  mjpDecoder decoder;
  mjp_defaultDecoder(&decoder);
  decoder.content_type = "model/triangles";
  decoder.extension = kExtension;
  decoder.can_decode = CanDecode;
  decoder.decode = Decode;
  mjp_registerDecoder(&decoder);
}
