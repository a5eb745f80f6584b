# SPDX-License-Identifier: Apache-2.0
# CMake functions for operators: they generate CustomResourceDefinitions from C++ types, and C++ types from
# CustomResourceDefinitions, and precompile the headers of the SDK.

# coxswain_precompile(TARGET ...)
#   Compiles the headers of the SDK once for all targets, so that a changed source compiles in a fraction of the time.
#   Sources include what they use as before.
function(coxswain_precompile)
  if(NOT TARGET coxswain_headers)
    file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/coxswain_headers.cc" CONTENT
      "// CMake requires a source file for the target that builds the precompiled header.\n" @ONLY)
    add_library(coxswain_headers OBJECT "${CMAKE_BINARY_DIR}/coxswain_headers.cc")
    target_link_libraries(coxswain_headers PRIVATE Coxswain::sdk)
    target_precompile_headers(coxswain_headers PRIVATE "<coxswain/manager.h>" "<api/core/v1.h>")
  endif()
  foreach(target IN LISTS ARGV)
    target_precompile_headers(${target} REUSE_FROM coxswain_headers)
  endforeach()
endfunction()

# coxswain_crds(NAME LIBRARY lib HEADERS a.h ... KINDS ns::A ... OUTPUT file)
#   Adds the target NAME (part of all), which writes OUTPUT, in the build folder, from the kinds that LIBRARY defines.
#   Versions of one kind are separated by '|', with the storage version first: KINDS "v1::Backup|v1beta1::Backup".
function(coxswain_crds name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LIBRARY;OUTPUT" "HEADERS;KINDS")
  set(includes "")
  foreach(header IN LISTS arg_HEADERS)
    string(APPEND includes "#include \"${header}\"\n")
  endforeach()
  set(calls "")
  foreach(kind IN LISTS arg_KINDS)
    string(REPLACE "|" ", " versions "${kind}")
    string(APPEND calls "  text += \"---\\n\" + cox::CrdYaml(cox::CrdOf<${versions}>());\n")
  endforeach()
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${name}_main.cc" CONTENT
"#include <cstdio>
#include <string>

#include \"coxswain/custom_resource.h\"
${includes}
int main(int, char** argv) {
  std::string text;
${calls}  std::FILE* out = std::fopen(argv[1], \"wb\");
  if (out == nullptr) return 1;
  const bool written = std::fwrite(text.data(), 1, text.size(), out) == text.size();
  return std::fclose(out) == 0 && written ? 0 : 1;
}
" @ONLY)
  add_executable(${name}_writer "${CMAKE_CURRENT_BINARY_DIR}/${name}_main.cc")
  target_link_libraries(${name}_writer PRIVATE ${arg_LIBRARY} Coxswain::sdk)
  cmake_path(ABSOLUTE_PATH arg_OUTPUT BASE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}" OUTPUT_VARIABLE output)
  cmake_path(GET output PARENT_PATH folder)
  add_custom_command(OUTPUT "${output}"
    COMMAND ${CMAKE_COMMAND} -E make_directory "${folder}"
    COMMAND ${name}_writer "${output}"
    COMMENT "CustomResourceDefinitions ${arg_OUTPUT}" VERBATIM)
  add_custom_target(${name} ALL DEPENDS "${output}")
endfunction()

# coxswain_types(NAME FROM crds.yaml NAMESPACE ns STEMS backup_v1 ...)
#   Adds the static library NAME with C++ structs for the definitions in FROM. Each stem, <singular>_<version>, is the
#   name of a header that users of NAME include.
function(coxswain_types name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FROM;NAMESPACE" "STEMS")
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${name}_types")
  set(sources "")
  foreach(stem IN LISTS arg_STEMS)
    list(APPEND sources "${folder}/${stem}.cc" "${folder}/${stem}.h")
  endforeach()
  cmake_path(ABSOLUTE_PATH arg_FROM BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE from)
  add_custom_command(OUTPUT ${sources}
    COMMAND Coxswain::coxswain generate types --from "${from}" --namespace "${arg_NAMESPACE}" --out "${folder}"
    DEPENDS "${from}" Coxswain::coxswain
    COMMENT "C++ types from ${arg_FROM}" VERBATIM)
  add_library(${name} STATIC ${sources})
  target_include_directories(${name} PUBLIC "${folder}")
  target_link_libraries(${name} PUBLIC Coxswain::sdk)
endfunction()
