# SPDX-License-Identifier: Apache-2.0
# cox_module(NAME [SMALL])    declares src/NAME as the library cox_NAME, linked by its line in layers.txt. SMALL: the
#                             module and its parts are compiled for size, because they do not determine how fast
#                             requests are served or Pods are scheduled.
# cox_sources(NAME [ONE_THREAD] SOURCES ... TESTS ... COST_TESTS ... LIBS ... TEST_LIBS ...)
#                             adds this folder's files to it; its tests become one program per folder. With ONE_THREAD,
#                             the tests must not start threads, and builds for ThreadSanitizer leave them out.
#                             COST_TESTS measure time and memory: a separate program with the label "timing", which
#                             does not run in parallel with other tests. TEST_LIBS are linked only to the tests.
# cox_part(NAME [SMALL] [ONE_THREAD] SOURCES ... TESTS ... COST_TESTS ... DEPS ... LIBS ... TEST_LIBS ...)
#                             builds a folder of a large module as a separate library, cox_NAME_<folder>, which the
#                             module links. Its tests link only this part and DEPS, which are folders of other parts.
# cox_kinds([THREADS] ...)    a cox_part of the registry that holds kinds: compiled for size, with a precompiled
#                             header that all kinds share; ONE_THREAD, unless it has THREADS.
# cox_library(TARGET SOURCES ... LIBS ...)
#                             a library of one command, compiled for size.
# cox_script_test(NAME SCRIPT LABELS ... TIMEOUT SECONDS ARGS ...)
#                             a Python program that tests the built program, in parallel with other tests; with the
#                             label "timing" it runs alone. Exit code 77 means skipped. Does nothing if the program or
#                             Python is missing.
# cox_fuzz(NAME SOURCE LIB)   a libFuzzer target of one library, built if COX_FUZZ is on.
# cox_alone(FILES...)         compiles these files one by one also with COX_UNITY, because a private name in each of
#                             them collides with a name in another file of its folder.
#
# Every .cc is in exactly one list: tools/check/listed compares the lists with the tree.

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/layers.txt")
file(STRINGS "${CMAKE_SOURCE_DIR}/layers.txt" _cox_layer_lines REGEX "^[a-z]+ *:")
foreach(_line IN LISTS _cox_layer_lines)
  string(REGEX MATCH "^([a-z]+) *:(.*)$" _ "${_line}")
  string(STRIP "${CMAKE_MATCH_2}" _deps)
  string(REPLACE " " ";" COX_LAYER_${CMAKE_MATCH_1} "${_deps}")
endforeach()

# Reuses the precompiled headers of the target `headers`, if it exists.
function(cox_precompiled target headers)
  if(TARGET ${headers})
    target_precompile_headers(${target} REUSE_FROM ${headers})
  endif()
endfunction()

# Under sanitizers only these modules are optimized and instrumented for fuzzing. They parse input from clients, all
# tests spend time in them, and without optimization their recursive functions exceed the stack. The others
# compile in half the time without optimization.
set(COX_OPTIMIZED_UNDER_SANITIZERS base net object)

# Sets the optimization of a module or of one of its parts, and the matching precompiled header.
function(cox_choose_optimization target module small)
  get_property(small_modules GLOBAL PROPERTY COX_SMALL_MODULES)
  if(COX_SANITIZE AND module IN_LIST COX_OPTIMIZED_UNDER_SANITIZERS)
    target_link_libraries(${target} PRIVATE cox_fuzzed_code)
    cox_precompiled(${target} cox_std_pch)
  elseif(COX_SANITIZE OR small OR module IN_LIST small_modules)
    target_link_libraries(${target} PRIVATE cox_small_code)
    cox_precompiled(${target} cox_small_std_pch)
  else()
    cox_precompiled(${target} cox_std_pch)
  endif()
endfunction()

# With COX_UNITY, libraries and test programs are compiled in batches: one file that includes several files of a folder.
# A build of everything then takes less time, and a build after a change takes more. cox_write_batches writes the batches
# once all sources are known. CMake's own unity builds are not used because they include files by absolute paths, so that
# the compiler cache could not serve a second checkout.
function(cox_batched target)
  set_property(GLOBAL APPEND PROPERTY COX_BATCHED ${target})
endfunction()

function(cox_alone)
  list(TRANSFORM ARGN PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  set_property(GLOBAL APPEND PROPERTY COX_ALONE ${ARGN})
endfunction()

# Replaces source files of the target by files NAME_0.cc, NAME_1.cc, ... that include up to eight of them each, by their
# path below `root`, which is in the include path. `batches` receives the paths of the new files.
function(cox_batch batches target name root)
  set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES HEADER_FILE_ONLY ON)
  set(files)
  set(position 0)
  foreach(source IN LISTS ARGN)
    math(EXPR number "${position} / 8")
    math(EXPR position "${position} + 1")
    set(file "${CMAKE_BINARY_DIR}/batches/${name}_${number}.cc")
    if(NOT file IN_LIST files)
      list(APPEND files "${file}")
      set("text_${file}" "")
    endif()
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${root}")
    string(APPEND "text_${file}" "#include \"${source}\"\n")
  endforeach()
  foreach(file IN LISTS files)
    file(CONFIGURE OUTPUT "${file}" CONTENT "${text_${file}}" @ONLY)  # not touched if unchanged
  endforeach()
  target_sources(${target} PRIVATE ${files})
  set(${batches} ${files} PARENT_SCOPE)
endfunction()

function(cox_write_batches)
  if(NOT COX_UNITY)
    return()
  endif()
  get_property(alone GLOBAL PROPERTY COX_ALONE)
  get_property(targets GLOBAL PROPERTY COX_BATCHED)
  foreach(target IN LISTS targets)
    get_target_property(sources ${target} SOURCES)
    get_target_property(target_folder ${target} SOURCE_DIR)
    set(folders)
    foreach(source IN LISTS sources)
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${target_folder}")
      cmake_path(IS_PREFIX CMAKE_BINARY_DIR "${source}" generated)
      if(NOT generated AND NOT source IN_LIST alone)
        cmake_path(GET source PARENT_PATH folder)
        list(APPEND folders "${folder}")
        list(APPEND "files_${target}_${folder}" "${source}")
      endif()
    endforeach()
    list(REMOVE_DUPLICATES folders)
    # In libraries, the files of small folders are compiled with those of the parent folder, so the deepest folders come
    # first. Test programs are excluded, because tests often define the same private names.
    get_target_property(type ${target} TYPE)
    list(SORT folders ORDER DESCENDING)
    foreach(folder IN LISTS folders)
      list(LENGTH "files_${target}_${folder}" length)
      cmake_path(GET folder PARENT_PATH above)
      cmake_path(IS_PREFIX target_folder "${above}" inside)
      if(length LESS 4 AND inside AND type STREQUAL "STATIC_LIBRARY")
        list(APPEND "files_${target}_${above}" ${files_${target}_${folder}})
        set("files_${target}_${folder}")
        list(APPEND folders "${above}")
      endif()
    endforeach()
    list(REMOVE_DUPLICATES folders)
    foreach(folder IN LISTS folders)
      if(files_${target}_${folder})
        cmake_path(RELATIVE_PATH folder BASE_DIRECTORY "${target_folder}" OUTPUT_VARIABLE name)
        string(MAKE_C_IDENTIFIER "${name}" name)
        cox_batch(batches ${target} "${target}.${name}" "${CMAKE_SOURCE_DIR}/src" ${files_${target}_${folder}})
      endif()
    endforeach()
  endforeach()
endfunction()

function(cox_module name)
  if(NOT DEFINED COX_LAYER_${name})
    message(FATAL_ERROR "src/${name} has no line in layers.txt: add one that says what it may include")
  endif()
  add_library(cox_${name} STATIC)
  cox_batched(cox_${name})
  if("SMALL" IN_LIST ARGN)
    set_property(GLOBAL APPEND PROPERTY COX_SMALL_MODULES ${name})
  endif()
  cox_choose_optimization(cox_${name} ${name} OFF)
  set_property(GLOBAL APPEND PROPERTY COX_LIBRARIES cox_${name})
  target_link_libraries(cox_${name} PUBLIC cox_options)
  foreach(dep IN LISTS COX_LAYER_${name})
    if(TARGET cox_${dep})
      target_link_libraries(cox_${name} PUBLIC cox_${dep})
    endif()
  endforeach()
endfunction()

# Removes tests that this build does not need: those of layers that are built only for the layers above them, and
# those that do not work, or find nothing, under a sanitizer.
macro(cox_forget_unwanted_tests name)
  if(NOT COX_TESTS OR (NOT COX_TEST_LAYERS STREQUAL "all" AND NOT ${name} IN_LIST COX_TEST_LAYERS))
    unset(arg_TESTS)
    unset(arg_COST_TESTS)
  elseif(COX_SANITIZE MATCHES "thread")
    unset(arg_COST_TESTS)  # they replace operator new, and so does ThreadSanitizer
    if(arg_ONE_THREAD)
      unset(arg_TESTS)
    endif()
  elseif(COX_SANITIZE AND NOT ${name} IN_LIST COX_OPTIMIZED_UNDER_SANITIZERS)
    unset(arg_COST_TESTS)
  endif()
endmacro()

# Adds the test programs of a folder, which test `library`.
macro(cox_add_tests folder library)
  if(arg_TESTS)
    cox_test(${folder}_test SOURCES ${arg_TESTS} LIBS ${library} ${arg_TEST_LIBS})
    if(arg_ONE_THREAD AND NOT COX_SANITIZE)
      target_link_libraries(${folder}_test PRIVATE cox_one_thread)
    endif()
  endif()
  if(arg_COST_TESTS)
    cox_test(${folder}_cost_test SOURCES ${arg_COST_TESTS} LIBS ${library} cox_cost_meter
      PROPERTIES RUN_SERIAL ON LABELS timing)
  endif()
endmacro()

function(cox_sources name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ONE_THREAD" "" "SOURCES;TESTS;COST_TESTS;LIBS;TEST_LIBS")
  cox_forget_unwanted_tests(${name})
  list(TRANSFORM arg_SOURCES PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  target_sources(cox_${name} PRIVATE ${arg_SOURCES})
  if(arg_LIBS)
    target_link_libraries(cox_${name} PUBLIC ${arg_LIBS})
  endif()
  file(RELATIVE_PATH folder "${CMAKE_SOURCE_DIR}/src" "${CMAKE_CURRENT_SOURCE_DIR}")
  string(REPLACE "/" "_" folder "${folder}")
  cox_add_tests(${folder} cox_${name})
endfunction()

function(cox_part name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SMALL;ONE_THREAD" "PCH" "SOURCES;TESTS;COST_TESTS;DEPS;LIBS;TEST_LIBS")
  cox_forget_unwanted_tests(${name})
  file(RELATIVE_PATH folder "${CMAKE_SOURCE_DIR}/src" "${CMAKE_CURRENT_SOURCE_DIR}")
  string(REPLACE "/" "_" folder "${folder}")
  add_library(cox_${folder} STATIC ${arg_SOURCES})
  cox_batched(cox_${folder})
  if(arg_PCH)
    cox_precompiled(cox_${folder} ${arg_PCH})
  else()
    cox_choose_optimization(cox_${folder} ${name} ${arg_SMALL})
  endif()
  set_property(GLOBAL APPEND PROPERTY COX_LIBRARIES cox_${folder})
  target_link_libraries(cox_${folder} PUBLIC cox_options ${arg_LIBS})
  foreach(dep IN LISTS arg_DEPS)
    string(REPLACE "/" "_" dep "${dep}")
    target_link_libraries(cox_${folder} PUBLIC cox_${name}_${dep})
  endforeach()
  foreach(dep IN LISTS COX_LAYER_${name})
    if(TARGET cox_${dep})
      target_link_libraries(cox_${folder} PUBLIC cox_${dep})
    endif()
  endforeach()
  target_link_libraries(cox_${name} PUBLIC cox_${folder})
  cox_add_tests(${folder} cox_${folder})
endfunction()

function(cox_kinds)
  if("THREADS" IN_LIST ARGV)
    list(REMOVE_ITEM ARGV THREADS)
  else()
    list(PREPEND ARGV ONE_THREAD)
  endif()
  cox_part(apiserver ${ARGV} PCH cox_kinds_pch)
  file(RELATIVE_PATH folder "${CMAKE_SOURCE_DIR}/src" "${CMAKE_CURRENT_SOURCE_DIR}")
  string(REPLACE "/" "_" folder "${folder}")
  target_link_libraries(cox_${folder} PRIVATE cox_small_code)
endfunction()

function(cox_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBS")
  add_library(${target} STATIC ${arg_SOURCES})
  target_link_libraries(${target} PUBLIC ${arg_LIBS} cox_options PRIVATE cox_small_code)
  cox_precompiled(${target} cox_small_std_pch)
  cox_batched(${target})
endfunction()

# Adds a GoogleTest program; each TEST is one ctest test. Under sanitizers the whole program is one test, because
# starting and ending a process takes longer there than most tests.
function(cox_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBS;PROPERTIES")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBS} cox_options cox_test_paths GTest::gmock GTest::gtest_main)
  if(name MATCHES "_cost_test$")
    target_link_libraries(${name} PRIVATE cox_quick_link)  # compiled like the code whose cost it measures
  else()
    cox_test_program(${name})
  endif()
  if(COX_SANITIZE)
    add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
    set_tests_properties(${name} PROPERTIES TIMEOUT 1800 ${arg_PROPERTIES})
  else()
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 600 ${arg_PROPERTIES})
  endif()
  set_property(GLOBAL APPEND PROPERTY COX_TEST_PROGRAMS ${name})
endfunction()

# Sets how a program with GoogleTest tests is compiled and linked.
function(cox_test_program name)
  target_link_libraries(${name} PRIVATE cox_quick_code cox_quick_link)
  cox_precompiled(${name} cox_test_pch)
  cox_batched(${name})
endfunction()

function(cox_script_test name script)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "TIMEOUT" "LABELS;ARGS")
  find_package(Python3 3.8 QUIET COMPONENTS Interpreter)
  if(NOT COX_TESTS OR NOT TARGET coxswain OR NOT Python3_FOUND)
    return()
  endif()
  add_test(NAME ${name}
    COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/${script} ${arg_ARGS}
    WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  set_tests_properties(${name} PROPERTIES
    LABELS "${arg_LABELS}"
    TIMEOUT ${arg_TIMEOUT}
    COST ${arg_TIMEOUT}  # these tests take long, so ctest starts them first
    SKIP_RETURN_CODE 77
    ENVIRONMENT "COX_BIN=$<TARGET_FILE:coxswain>;COX_SHARED=${COX_SHARED};PYTHONUNBUFFERED=1")
  if(timing IN_LIST arg_LABELS)
    set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
  endif()
endfunction()

function(cox_fuzz name source library)
  if(COX_FUZZ)
    add_executable(${name} ${source})
    target_link_libraries(${name} PRIVATE ${library} cox_options cox_quick_link)
    get_target_property(linked ${library} LINK_LIBRARIES)
    if(NOT cox_fuzzed_code IN_LIST linked)
      target_link_libraries(${library} PRIVATE cox_fuzzed_code)
      set_target_properties(${library} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)  # compiled with other options
    endif()
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    set_property(GLOBAL APPEND PROPERTY COX_FUZZERS ${name})
  endif()
endfunction()
