// The version of MuJoCo that a library is compiled for. The simulator reads it from the file, and
// does not load a library of another version.
#pragma once

#include <mujoco/mujoco.h>

#define STRING_OF(x) #x
#define STRING(x) STRING_OF(x)
[[gnu::used]] static const char kVersion[] =
    "mujoco_ros: compiled for MuJoCo header " STRING(mjVERSION_HEADER);
