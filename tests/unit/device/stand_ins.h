// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/text.h"
#include "opgauge/device/backends.h"

#include <cstdlib>
#include <string>

namespace opgauge::testing {

inline const std::string kLibraries = OPGAUGE_BINARY_DIR "/tests/fake_vendor/";
inline const std::string kTools = OPGAUGE_SOURCE_DIR "/tests/fake_tools:/usr/bin:/bin";

// Which stand-ins of tests/fake_vendor enumeration finds: whole ones, too old ones, ones without
// any optional symbol, or none.
enum class Libraries { now, old, bare, absent };

// A world without this machine's own libraries, tools and sysfs.
inline Environment bare_environment() {
    Environment environment;
    environment.set("OPGAUGE_SYSFS", "/nowhere");
    environment.set("OPGAUGE_LIBRARY_PATH", "/nowhere");
    environment.set("PATH", "/nowhere");
    return environment;
}

// The libraries run in this process, so what they pretend is a variable of this process.
inline Discovery from_library(const std::string& backend, Libraries libraries,
                              const std::string& pretend, Environment environment) {
    ::setenv("OPGAUGE_FAKE_VENDOR", pretend.c_str(), 1);
    const char* folder = libraries == Libraries::now   ? "now"
                         : libraries == Libraries::old ? "old"
                                                       : "bare";
    if (libraries != Libraries::absent)
        environment.set("OPGAUGE_LIBRARY_PATH", kLibraries + folder);
    return (*find_backend(backend))->discover(environment);
}
inline Discovery from_library(const std::string& backend, Libraries libraries,
                              const std::string& pretend) {
    return from_library(backend, libraries, pretend, bare_environment());
}

// No library; the tools of tests/fake_tools, of which FAKE_TOOL chooses the behaviour.
inline Discovery from_tool(const std::string& backend, const std::string& behaviour = "") {
    Environment environment = bare_environment();
    environment.set("PATH", kTools);
    environment.set("FAKE_TOOL", behaviour);
    return (*find_backend(backend))->discover(environment);
}

inline std::string reasons(const Discovery& found) {
    return join(found.reasons, "; ");
}

}  // namespace opgauge::testing
