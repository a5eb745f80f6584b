# SPDX-License-Identifier: Apache-2.0
# Compiler options, warnings, sanitizers and the compiler cache.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

find_program(COX_CCACHE ccache)
if(COX_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without CCACHE_SLOPPINESS, files that use a precompiled header are never cached. Paths below the source folder are
  # made relative, so that several checkouts can share cached objects.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
    CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${COX_CCACHE})
endif()

add_library(cox_options INTERFACE)
# Adds options for this tree only; they do not apply to users of the installed libraries.
function(cox_compile_options)
  foreach(option IN LISTS ARGN)
    target_compile_options(cox_options INTERFACE $<BUILD_INTERFACE:${option}>)
  endforeach()
endfunction()
cox_compile_options(-Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual
  -Wno-missing-field-initializers)  # designated initializers omit fields on purpose
if(COX_WERROR)
  cox_compile_options(-Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # clang's -Wmissing-braces reports designated initializers of nested aggregates.
  cox_compile_options(-Wthread-safety -Wno-missing-braces)
  # A precompiled header from the compiler cache is valid regardless of the timestamp of its source file.
  cox_compile_options("SHELL:-Xclang -fno-pch-timestamp")
else()
  # g++ 12 reports false positives in optimised std::string and std::vector code.
  cox_compile_options(-Wno-restrict -Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-stringop-overread
    -Wno-array-bounds)
  cox_compile_options(-fpch-preprocess)  # required by ccache
endif()
if(COX_SANITIZE)
  set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1")
  cox_compile_options(-fsanitize=${COX_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(cox_options INTERFACE -fsanitize=${COX_SANITIZE})
endif()
# For targets whose speed does not matter: the code is a third smaller than with -O2 and compiles in less time. Debug
# and sanitizer builds do not optimize them.
add_library(cox_small_code INTERFACE)
target_compile_options(cox_small_code INTERFACE $<BUILD_INTERFACE:$<IF:$<CONFIG:Release>,-Os,-O0>>)
# For test programs: they compile in two thirds of the time that -Os takes, and most of them run for less than a second.
add_library(cox_quick_code INTERFACE)
target_compile_options(cox_quick_code INTERFACE $<BUILD_INTERFACE:-O0>)
# If mold is installed, it links the test programs, in less than a quarter of the time.
find_program(COX_MOLD mold)
add_library(cox_quick_link INTERFACE)
if(COX_MOLD)
  target_link_options(cox_quick_link INTERFACE -fuse-ld=mold)
endif()
# Installed programs leave out functions that nothing calls, and store relative relocations in a compact form.
add_library(cox_small_program INTERFACE)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  cox_compile_options(-ffunction-sections -fdata-sections)
  target_link_options(cox_small_program INTERFACE -Wl,--gc-sections -Wl,-z,pack-relative-relocs)
endif()
# For the code that fuzz targets test: libFuzzer is guided by the branches that an input takes.
add_library(cox_fuzzed_code INTERFACE)
if(COX_FUZZ)
  target_compile_options(cox_fuzzed_code INTERFACE $<BUILD_INTERFACE:-fsanitize=fuzzer-no-link>)
endif()
target_include_directories(cox_options INTERFACE
  $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/src> $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>
  $<INSTALL_INTERFACE:include/coxswain-sdk>)
target_compile_features(cox_options INTERFACE cxx_std_20)
# With GNU extensions `linux` is a predefined macro, but the API has a field of this name.
target_compile_options(cox_options INTERFACE $<INSTALL_INTERFACE:-Ulinux>)
# Users initialize API structs with designated initializers, which omit most fields.
target_compile_options(cox_options INTERFACE $<INSTALL_INTERFACE:-Wno-missing-field-initializers>)
find_package(Threads REQUIRED)
target_link_libraries(cox_options INTERFACE Threads::Threads)
