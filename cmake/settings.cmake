# SPDX-License-Identifier: Apache-2.0
# Language level and instrumentation, as one interface target that every target of ours links.
add_library(opgauge_settings INTERFACE)
target_compile_features(opgauge_settings INTERFACE cxx_std_20)
target_include_directories(opgauge_settings INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_definitions(opgauge_settings INTERFACE OPGAUGE_VERSION="${PROJECT_VERSION}")
set(CMAKE_CXX_EXTENSIONS OFF)

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
    # The sloppiness is what ccache asks for with precompiled headers.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
        CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${OPGAUGE_CCACHE})
endif()

# Reading the JSON and format headers is most of the cost of a small file; read once, they cost a third.
function(opgauge_precompile target)
    if(ARGC GREATER 1)
        target_precompile_headers(${target} REUSE_FROM ${ARGV1})
    else()
        target_precompile_headers(${target} PRIVATE
            <nlohmann/json.hpp> <fmt/format.h> <tl/expected.hpp> <algorithm> <chrono> <filesystem>
            <functional> <map> <optional> <string> <string_view> <variant> <vector>)
    endif()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        target_compile_options(${target} PRIVATE -fpch-preprocess)
    endif()
endfunction()
