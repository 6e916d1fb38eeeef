# SPDX-License-Identifier: Apache-2.0
# Each header compiles alone: one generated translation unit per header.
file(GLOB_RECURSE OPGAUGE_HEADERS CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
     ${PROJECT_SOURCE_DIR}/opgauge/*.h ${PROJECT_SOURCE_DIR}/cli/*.h)
set(units)
foreach(header IN LISTS OPGAUGE_HEADERS)
    string(MAKE_C_IDENTIFIER ${header} name)
    set(unit ${PROJECT_BINARY_DIR}/header_checks/${name}.cpp)
    file(CONFIGURE OUTPUT ${unit} CONTENT "#include \"${header}\"\n#include \"${header}\"\n")
    list(APPEND units ${unit})
endforeach()
add_library(header_checks OBJECT ${units})
target_link_libraries(header_checks PRIVATE opgauge opgauge_warnings)
# Only whether it compiles matters.
target_compile_options(header_checks PRIVATE -O0 -g0)
