# SPDX-License-Identifier: Apache-2.0
# Language level and instrumentation, as one interface target that every target of ours links.
add_library(opgauge_settings INTERFACE)
target_compile_features(opgauge_settings INTERFACE cxx_std_20)
target_include_directories(opgauge_settings INTERFACE ${PROJECT_SOURCE_DIR})
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()
if(OPGAUGE_SANITIZE)
    target_compile_options(opgauge_settings INTERFACE -fsanitize=${OPGAUGE_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(opgauge_settings INTERFACE -fsanitize=${OPGAUGE_SANITIZE})
endif()
if(OPGAUGE_COVERAGE)
    target_compile_options(opgauge_settings INTERFACE --coverage)
    target_link_options(opgauge_settings INTERFACE --coverage)
endif()

find_program(OPGAUGE_CCACHE ccache)
if(OPGAUGE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${OPGAUGE_CCACHE})
endif()
