# SPDX-License-Identifier: Apache-2.0
# cox_api(TARGET): makes the API types from api/*.api with tools/gen and adds them to TARGET.
#
# Where the packages that hold the API's prose are installed, field descriptions go in too
# (`kubectl explain`); without them everything else works the same.
set(COX_API_SOURCES "/usr/share/gocode/src/k8s.io" CACHE PATH "Go packages of the API, for field descriptions; may be absent")

function(cox_api target)
  file(GLOB api_files CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/api/*/*.api")
  set(out "${CMAKE_BINARY_DIR}/gen")
  set(headers)
  set(sources "${out}/api/kinds.cc" "${out}/api/packages.cc" "${out}/api/descriptions.cc")
  foreach(file IN LISTS api_files)
    file(RELATIVE_PATH stem "${CMAKE_SOURCE_DIR}" "${file}")
    string(REGEX REPLACE "\\.api$" "" stem "${stem}")
    list(APPEND headers "${out}/${stem}.h")
    list(APPEND sources "${out}/${stem}.cc")
  endforeach()

  set(descriptions)
  if(EXISTS "${COX_API_SOURCES}/api/core/v1/generated.proto")
    set(descriptions "${out}/descriptions.tsv")
    add_custom_command(OUTPUT "${descriptions}"
      COMMAND "${CMAKE_SOURCE_DIR}/tools/import-api" --source "${COX_API_SOURCES}" --descriptions "${descriptions}"
      VERBATIM)
  endif()

  add_custom_command(
    OUTPUT ${headers} ${sources}
    COMMAND cox_gen "${CMAKE_SOURCE_DIR}/api" "${out}" ${descriptions}
    # gen leaves unchanged files alone, so that one edited kind does not rebuild the world.
    DEPENDS cox_gen ${api_files} "${CMAKE_SOURCE_DIR}/api/groups.api" ${descriptions}
    COMMENT "API types from api/*.api"
    VERBATIM)
  # Headers must be there before anything that includes them compiles.
  add_custom_target(cox_api_headers DEPENDS ${headers})
  add_dependencies(${target} cox_api_headers)
  target_sources(${target} PRIVATE ${sources})
  # Tables, and the functions that copy, move, compare and destroy structs. Those of Pods and of metadata determine how
  # fast watch caches and the scheduler work; the others are compiled for size.
  set(small ${sources})
  list(FILTER small EXCLUDE REGEX "/api/(core|meta)/")
  if(COX_UNITY)
    # One batch holds all versions of a few groups, which have most functions in common.
    list(REMOVE_ITEM sources ${small})
    cox_batch(small ${target} ${target}_api "${out}" ${small})
    list(APPEND sources ${small})
  endif()
  set_source_files_properties(${small} TARGET_DIRECTORY ${target} PROPERTIES
    COMPILE_OPTIONS "$<$<CONFIG:Release>:-Os>" SKIP_PRECOMPILE_HEADERS ON)
  if(COX_SANITIZE)
    # AddressSanitizer would find nothing in them, in four times the time. ThreadSanitizer has to see whatever
    # synchronizes, be it a template that only happens to be instantiated here.
    set(options -O0)
    if(NOT COX_SANITIZE MATCHES "thread")
      list(APPEND options -fno-sanitize=all)
    endif()
    set_source_files_properties(${sources} TARGET_DIRECTORY ${target} PROPERTIES
      COMPILE_OPTIONS "${options}" SKIP_PRECOMPILE_HEADERS ON)
  endif()
  target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${out}>")
endfunction()
