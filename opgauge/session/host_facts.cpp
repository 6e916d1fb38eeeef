// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/host_facts.h"

#include "opgauge/base/file.h"
#include "opgauge/base/text.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdint>

namespace opgauge {
namespace {

Json cpu_model() {
    const auto text = read_file("/proc/cpuinfo");
    if (!text) return nullptr;
    for (const auto line : lines_of(*text)) {
        // "model name" on x86, "Model" or none on others.
        if (!line.starts_with("model name") && !line.starts_with("Model")) continue;
        const auto colon = line.find(':');
        if (colon != std::string_view::npos) return printable(trim(line.substr(colon + 1)));
    }
    return nullptr;
}

Json usable_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof set, &set) != 0) return nullptr;
    return CPU_COUNT(&set);
}

Json memory_total() {
    const long pages = ::sysconf(_SC_PHYS_PAGES);
    const long page_bytes = ::sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page_bytes <= 0) return nullptr;
    return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
}

}  // namespace

Json host_facts() {
    utsname names{};
    const bool known = ::uname(&names) == 0;
    return {{"name", known ? Json(names.nodename) : Json(nullptr)},
            {"kernel", known ? Json(names.release) : Json(nullptr)},
            {"machine", known ? Json(names.machine) : Json(nullptr)},
            {"cpu_model", cpu_model()},
            {"cores", usable_cores()},
            {"memory_total_bytes", memory_total()}};
}

}  // namespace opgauge
