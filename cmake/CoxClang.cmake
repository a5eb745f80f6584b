# SPDX-License-Identifier: Apache-2.0
# Toolchain of the clang presets: the tested version, or else the next newer one that is installed.
find_program(COX_CLANGXX NAMES clang++-16 clang++-17 clang++-18 clang++-19 clang++-20 clang++-21 clang++-22 clang++-23)
if(NOT COX_CLANGXX)
  message(FATAL_ERROR "no clang++ >= 16: run tools/dev/setup --build")
endif()
set(CMAKE_CXX_COMPILER "${COX_CLANGXX}")
