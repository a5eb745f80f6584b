# SPDX-License-Identifier: Apache-2.0
# cox_api(TARGET): generates the API types from api/*.api with tools/gen and adds them to TARGET.
#
# If the Go packages of the API exist, the generated code contains their field descriptions, for `kubectl explain` and as
# comments in the headers. tools/dev/setup unpacks the packages. Everything else works without them.
set(COX_API_SOURCES "" CACHE PATH "Go packages of the API, for field descriptions (default: those of tools/dev/setup, or installed ones)")

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
  file(GLOB importer CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/tools/import_api/*.py")
  foreach(folder "${COX_API_SOURCES}" "/usr/local/share/coxswain/api-sources/usr/share/gocode/src/k8s.io"
      "/usr/share/gocode/src/k8s.io")
    if(NOT descriptions AND EXISTS "${folder}/api/core/v1/generated.proto")
      set(descriptions "${out}/descriptions.tsv")
      add_custom_command(OUTPUT "${descriptions}"
        COMMAND "${CMAKE_SOURCE_DIR}/tools/import-api" --source "${folder}" --descriptions "${descriptions}"
        DEPENDS "${CMAKE_SOURCE_DIR}/tools/import-api" ${importer}
        VERBATIM)
    endif()
  endforeach()

  add_custom_command(
    OUTPUT ${headers} ${sources}
    COMMAND cox_gen "${CMAKE_SOURCE_DIR}/api" "${out}" ${descriptions}
    # cox_gen does not touch unchanged files, so that a change of one kind does not rebuild everything.
    DEPENDS cox_gen ${api_files} "${CMAKE_SOURCE_DIR}/api/groups.api" ${descriptions}
    COMMENT "API types from api/*.api"
    VERBATIM)
  # The headers must exist before any file that includes them is compiled.
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
    # With AddressSanitizer they would compile in four times the time, and it would find nothing. ThreadSanitizer must
    # instrument all synchronization, including that of templates that are instantiated here.
    set(options -O0)
    if(NOT COX_SANITIZE MATCHES "thread")
      list(APPEND options -fno-sanitize=all)
    endif()
    set_source_files_properties(${sources} TARGET_DIRECTORY ${target} PROPERTIES
      COMPILE_OPTIONS "${options}" SKIP_PRECOMPILE_HEADERS ON)
  endif()
  target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${out}>")
endfunction()
