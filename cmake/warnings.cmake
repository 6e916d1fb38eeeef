# SPDX-License-Identifier: Apache-2.0
# Warnings as one interface target. They are errors in our presets only, so that a newer compiler's
# new warnings never stop a user's build.
add_library(opgauge_warnings INTERFACE)
target_compile_options(opgauge_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
    -Wnon-virtual-dtor -Woverloaded-virtual -Wnull-dereference -Wformat=2)
if(OPGAUGE_WERROR)
    target_compile_options(opgauge_warnings INTERFACE -Werror)
endif()
# GCC 12 reports these inside inlined library code (std::string, std::variant) once sanitizers or -O2
# are on; bugs 105329 and 105651 of its tracker are two of the causes.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND (OPGAUGE_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Release"))
    target_compile_options(opgauge_warnings INTERFACE -Wno-null-dereference -Wno-maybe-uninitialized -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow)
endif()
