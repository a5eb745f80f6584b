# SPDX-License-Identifier: Apache-2.0
# cmake --install: the program, and the SDK as a CMake package.
#
#   find_package(Coxswain REQUIRED)
#   target_link_libraries(my-operator PRIVATE Coxswain::sdk)        # include/coxswain
#   target_link_libraries(my_test PRIVATE Coxswain::testkit)        # an API server in the test
#
# Headers go to include/coxswain-sdk, below which they are included as in this tree; libraries to lib/coxswain.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(headers "${CMAKE_INSTALL_INCLUDEDIR}/coxswain-sdk")
set(package "${CMAKE_INSTALL_LIBDIR}/cmake/Coxswain")

# The tree's own examples use the package's names.
foreach(name sdk testkit)
  if(TARGET cox_${name})
    add_library(Coxswain::${name} ALIAS cox_${name})
    set_target_properties(cox_${name} PROPERTIES EXPORT_NAME ${name})
  endif()
endforeach()
add_executable(Coxswain::coxswain ALIAS coxswain)

get_property(libraries GLOBAL PROPERTY COX_LIBRARIES)
install(TARGETS coxswain cox_options cox_small_code cox_fuzzed_code ${libraries} EXPORT CoxswainTargets
  RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}"
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}/coxswain")
install(EXPORT CoxswainTargets NAMESPACE Coxswain:: DESTINATION "${package}")

install(DIRECTORY include/coxswain DESTINATION "${headers}" FILES_MATCHING PATTERN "*.h")
# What the contract is written in.
foreach(layer base net object)
  install(DIRECTORY src/${layer} DESTINATION "${headers}" FILES_MATCHING PATTERN "*.h")
endforeach()
install(DIRECTORY "${CMAKE_BINARY_DIR}/gen/api" DESTINATION "${headers}" FILES_MATCHING PATTERN "*.h")
install(DIRECTORY src/testkit DESTINATION "${headers}" FILES_MATCHING PATTERN "*.h")

configure_package_config_file(cmake/CoxswainConfig.cmake.in "${CMAKE_BINARY_DIR}/CoxswainConfig.cmake"
  INSTALL_DESTINATION "${package}")
write_basic_package_version_file("${CMAKE_BINARY_DIR}/CoxswainConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES
  "${CMAKE_BINARY_DIR}/CoxswainConfig.cmake"
  "${CMAKE_BINARY_DIR}/CoxswainConfigVersion.cmake"
  cmake/CoxswainFunctions.cmake
  DESTINATION "${package}")
