// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/host_facts.h"

#include "opgauge/base/cpu_model.h"
#include "opgauge/base/usable_cores.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdint>

namespace opgauge {
namespace {

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
            {"cpu_model", optional_json(cpu_model())},
            {"cores", optional_json(usable_cores())},
            {"memory_total_bytes", memory_total()}};
}

}  // namespace opgauge
