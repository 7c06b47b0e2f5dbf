# What every interface package of this overlay needs: the generators, and a way around two defects of the ROS wheels.

find_package(ament_cmake REQUIRED)
find_package(rosidl_default_generators REQUIRED)

# Python needs the C type support alone; leaving the C++ ones out more than halves the build.
list(FILTER AMENT_EXTENSIONS_rosidl_generate_idl_interfaces EXCLUDE REGEX "_cpp:")
# Of the Python modules, the one that is imported finds the libraries of the other type supports by itself.
macro(rosidl_generator_py_get_typesupports result)
  set(${result} rosidl_typesupport_c)
endmacro()

# overlay_interfaces(<package>...)  finds the packages, generates every .msg, .srv and .action of this
# package against them, and installs it.
macro(overlay_interfaces)
  # action_msgs: the generators look it up by themselves, which is too late for the loop below.
  foreach(_dependency IN ITEMS action_msgs service_msgs ${ARGN})
    find_package(${_dependency} REQUIRED)
  endforeach()

  # The wheels' Python targets name header folders of the machine that built them; CMake refuses those.
  get_directory_property(_imported IMPORTED_TARGETS)
  foreach(_target IN LISTS _imported)
    if(_target MATCHES "__rosidl_generator_py$")
      set_target_properties(${_target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "")
    endif()
  endforeach()

  # The folder VARIANT, where there is one, holds what differs in that distribution or version.
  file(GLOB _files RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" msg/*.msg srv/*.srv action/*.action)
  set(_interfaces "")
  foreach(_file IN LISTS _files)
    if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${VARIANT}/${_file}")
      list(APPEND _interfaces "${CMAKE_CURRENT_SOURCE_DIR}/${VARIANT}:${_file}")
    else()
      list(APPEND _interfaces "${_file}")
    endif()
  endforeach()

  rosidl_generate_interfaces(${PROJECT_NAME} ${_interfaces} DEPENDENCIES ${ARGN})

  # One translation unit instead of one per type: each would parse the same headers.
  foreach(_part IN ITEMS
      generator_c generator_py typesupport_c typesupport_fastrtps_c typesupport_introspection_c)
    set(_target ${PROJECT_NAME}__rosidl_${_part})
    set_target_properties(${_target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
    # These use the same names for different things.
    get_target_property(_sources ${_target} SOURCES)
    list(FILTER _sources INCLUDE REGEX "__description[.]c$")
    set_source_files_properties(${_sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()

  ament_export_dependencies(rosidl_default_runtime)
  ament_package()
endmacro()
