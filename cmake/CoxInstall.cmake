# SPDX-License-Identifier: Apache-2.0
# cmake --install: the program (--component program), and the SDK as a CMake package (--component sdk). The target
# `sdk` builds everything that the SDK contains.
#
#   find_package(Coxswain REQUIRED)
#   target_link_libraries(my-operator PRIVATE Coxswain::sdk)        # include/coxswain
#   target_link_libraries(my_test PRIVATE Coxswain::testkit)        # an API server in the test
#
# Headers are installed in include/coxswain-sdk, with the same paths as in this tree, and libraries in lib/coxswain.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(headers "${CMAKE_INSTALL_INCLUDEDIR}/coxswain-sdk")
set(package "${CMAKE_INSTALL_LIBDIR}/cmake/Coxswain")

# The examples in this tree use the target names of the package.
foreach(name sdk testkit)
  if(TARGET cox_${name})
    add_library(Coxswain::${name} ALIAS cox_${name})
    set_target_properties(cox_${name} PROPERTIES EXPORT_NAME ${name})
  endif()
endforeach()
add_executable(Coxswain::coxswain ALIAS coxswain)

get_property(libraries GLOBAL PROPERTY COX_LIBRARIES)
add_custom_target(sdk DEPENDS coxswain ${libraries} cox_api_headers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME sdk)
install(TARGETS coxswain EXPORT CoxswainTargets COMPONENT program RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
# Manual pages, written from --help. They are not installed if the target was not built.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  set(manual "${CMAKE_BINARY_DIR}/man/man1")
  add_custom_command(OUTPUT "${manual}/coxswain.1"
    COMMAND Python3::Interpreter "${CMAKE_SOURCE_DIR}/tools/manual" "$<TARGET_FILE:coxswain>" "${manual}"
    DEPENDS coxswain "${CMAKE_SOURCE_DIR}/tools/manual"
    COMMENT "Manual pages" VERBATIM)
  add_custom_target(manual ALL DEPENDS "${manual}/coxswain.1")
  install(DIRECTORY "${manual}" DESTINATION "${CMAKE_INSTALL_MANDIR}" COMPONENT program OPTIONAL)
endif()
install(TARGETS cox_options cox_small_code cox_fuzzed_code ${libraries} EXPORT CoxswainTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}/coxswain")
install(EXPORT CoxswainTargets NAMESPACE Coxswain:: DESTINATION "${package}")

install(DIRECTORY include/coxswain DESTINATION "${headers}" FILES_MATCHING PATTERN "*.h")
install(DIRECTORY "${CMAKE_BINARY_DIR}/gen/api" DESTINATION "${headers}" FILES_MATCHING PATTERN "*.h")

# Finds the other headers that are part of the SDK: those that its own headers and the generated headers include, and a
# few that operators need. `result` receives their paths below src/.
function(cox_promised_headers result)
  file(GLOB waiting "${CMAKE_SOURCE_DIR}/include/coxswain/*.h" "${CMAKE_SOURCE_DIR}/src/testkit/*.h")
  foreach(header base/scope.h object/codec/yaml/yaml.h object/type/api_types.h)
    list(APPEND waiting "${CMAKE_SOURCE_DIR}/src/${header}")
    list(APPEND found "${header}")
  endforeach()
  while(waiting)
    list(POP_FRONT waiting file)
    file(STRINGS "${file}" lines REGEX "^#include \"")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^#include \"(.*)\".*" "\\1" header "${line}")
      if(NOT header IN_LIST found AND EXISTS "${CMAKE_SOURCE_DIR}/src/${header}")
        list(APPEND found "${header}")
        list(APPEND waiting "${CMAKE_SOURCE_DIR}/src/${header}")
      endif()
    endforeach()
  endwhile()
  file(GLOB testkit RELATIVE "${CMAKE_SOURCE_DIR}/src" "${CMAKE_SOURCE_DIR}/src/testkit/*.h")
  set(${result} ${found} ${testkit} PARENT_SCOPE)
endfunction()
cox_promised_headers(promised)
foreach(header IN LISTS promised)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES "src/${header}" DESTINATION "${headers}/${folder}")
endforeach()

configure_package_config_file(cmake/CoxswainConfig.cmake.in "${CMAKE_BINARY_DIR}/CoxswainConfig.cmake"
  INSTALL_DESTINATION "${package}")
write_basic_package_version_file("${CMAKE_BINARY_DIR}/CoxswainConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES
  "${CMAKE_BINARY_DIR}/CoxswainConfig.cmake"
  "${CMAKE_BINARY_DIR}/CoxswainConfigVersion.cmake"
  cmake/CoxswainFunctions.cmake
  DESTINATION "${package}")
