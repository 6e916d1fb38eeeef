# SPDX-License-Identifier: Apache-2.0
# Installs the library to WORK_DIR, builds examples/time_callable against it and checks what it says;
# never how fast anything was.
file(REMOVE_RECURSE ${WORK_DIR})
function(run)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
    if(NOT code EQUAL 0)
        list(JOIN ARGN " " line)
        message(FATAL_ERROR "${line}: ${code}\n${text}")
    endif()
    set(said "${text}" PARENT_SCOPE)
endfunction()
function(expect pattern)
    if(NOT said MATCHES "${pattern}")
        message(FATAL_ERROR "no '${pattern}' in:\n${said}")
    endif()
endfunction()

run(${CMAKE_COMMAND} --install ${BINARY_DIR} --component measure --prefix ${WORK_DIR}/prefix)
run(${CMAKE_COMMAND} -S ${SOURCE_DIR}/examples/time_callable -B ${WORK_DIR}/build
    -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=Debug)
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)

run(${WORK_DIR}/build/time_callable)
expect("sum of two vectors of 4096 floats on the host\ntimer=host median_ns=[0-9]+\\.[0-9] ")
expect(" samples=[0-9][0-9]+ calls_per_sample=[0-9]+ ")
expect(" stopped=(precision|max_time|max_wall)\n")
expect("result=right\n$")

# Without a driver it says so, in one line.
execute_process(COMMAND ${CMAKE_COMMAND} -E env OPGAUGE_LIBRARY_PATH=/nowhere ${WORK_DIR}/build/time_callable --cuda
                RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE said)
expect("^time_callable: no library libcuda.so.1\n$")
if(NOT code EQUAL 1)
    message(FATAL_ERROR "exit code ${code}, not 1")
endif()
