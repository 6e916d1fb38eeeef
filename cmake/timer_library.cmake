# SPDX-License-Identifier: Apache-2.0
# opgauge::measure: the timers and the few files they need as a library of their own, installed with a
# package file for find_package(opgauge). Its headers stay free of JSON and of vendors' SDKs.
include(CMakePackageConfigHelpers)

set(OPGAUGE_MEASURE_HEADERS
    base/environment.h base/result.h device/device_runtime.h
    measure/measure.h measure/statistics.h measure/timer.h)
set(OPGAUGE_MEASURE_SOURCES
    base/environment.cpp base/file.cpp base/shared_library.cpp base/text.cpp
    device/vendor_library.cpp
    measure/event_timer.cpp measure/graph_timer.cpp measure/host_timer.cpp measure/measure.cpp
    measure/samples.cpp measure/statistics.cpp measure/stopping_rule.cpp)

list(TRANSFORM OPGAUGE_MEASURE_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/opgauge/)
# device_runtime.cpp and one file a vendor.
file(GLOB OPGAUGE_RUNTIME_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/opgauge/device/*_runtime.cpp)
add_library(opgauge_measure STATIC ${OPGAUGE_MEASURE_SOURCES} ${OPGAUGE_RUNTIME_SOURCES})
add_library(opgauge::measure ALIAS opgauge_measure)
set_target_properties(opgauge_measure PROPERTIES EXPORT_NAME measure POSITION_INDEPENDENT_CODE ON)
target_compile_features(opgauge_measure PUBLIC cxx_std_20)
target_include_directories(opgauge_measure INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(opgauge_measure
    PUBLIC tl::expected $<BUILD_INTERFACE:opgauge_settings>
    PRIVATE fmt::fmt ${CMAKE_DL_LIBS} $<BUILD_INTERFACE:opgauge_warnings>
            $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>)

# One component, so that the library can be installed without the tool.
set(OPGAUGE_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/opgauge)
foreach(header IN LISTS OPGAUGE_MEASURE_HEADERS)
    get_filename_component(folder ${header} DIRECTORY)
    install(FILES ${PROJECT_SOURCE_DIR}/opgauge/${header} COMPONENT measure
            DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/opgauge/${folder})
endforeach()
install(TARGETS opgauge_measure EXPORT opgaugeTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        COMPONENT measure)
install(EXPORT opgaugeTargets NAMESPACE opgauge:: DESTINATION ${OPGAUGE_PACKAGE_DIR} COMPONENT measure)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/opgaugeConfig.cmake.in
    ${PROJECT_BINARY_DIR}/opgaugeConfig.cmake INSTALL_DESTINATION ${OPGAUGE_PACKAGE_DIR})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/opgaugeConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/opgaugeConfig.cmake ${PROJECT_BINARY_DIR}/opgaugeConfigVersion.cmake
        DESTINATION ${OPGAUGE_PACKAGE_DIR} COMPONENT measure)
