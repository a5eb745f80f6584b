# SPDX-License-Identifier: Apache-2.0
# Writes the commit that is built to OUTPUT, as a header for main.cc. Run during the build: cmake -DSOURCE=<tree>
# -DOUTPUT=<file> -P CoxVersion.cmake. The file is not touched if it is unchanged.
set(commit "unknown")
set(state "unknown")
set(date "1970-01-01T00:00:00Z")
find_program(git git)
if(git)
  function(ask_git result)
    execute_process(COMMAND "${git}" -C "${SOURCE}" ${ARGN} OUTPUT_VARIABLE output ERROR_QUIET
      OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
    if(failed)
      set(output)
    endif()
    set(${result} "${output}" PARENT_SCOPE)
  endfunction()
  ask_git(found rev-parse HEAD)
  if(found)
    set(commit "${found}")
    set(ENV{TZ} UTC)
    ask_git(date log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd)
    ask_git(changes status --porcelain --untracked-files=no)
    set(state clean)
    if(changes)
      set(state dirty)
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" @ONLY CONTENT [[
#pragma once

inline constexpr char kGitCommit[] = "@commit@";
inline constexpr char kGitTreeState[] = "@state@";
inline constexpr char kCommitDate[] = "@date@";
]])
