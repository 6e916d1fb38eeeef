// SPDX-License-Identifier: Apache-2.0
// Any bytes as FlagGems' database and as a store of ours: both end with a result or one line. What
// was imported can be exported and imported again, with as many rows.
#include "opgauge/tuning/flaggems_database.h"

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>

namespace {

const std::filesystem::path& folder() {
    static const std::filesystem::path path = [] {
        std::string pattern = "/dev/shm/opgauge-fuzz-XXXXXX";
        if (::mkdtemp(pattern.data()) == nullptr) std::abort();
        return std::filesystem::path(pattern);
    }();
    return path;
}

void one_line(const opgauge::Error& error) {
    if (error.message.empty() || error.message.find('\n') != std::string::npos) std::abort();
}

void import_and_back(const std::filesystem::path& file) {
    const auto imported = opgauge::import_flaggems(file, folder() / "store", {});
    if (!imported) return one_line(imported.error());
    auto store = opgauge::TuningStore::open(folder() / "store", opgauge::DatabaseAccess::read);
    if (!store) std::abort();
    const auto exported = opgauge::export_flaggems(*store, folder() / "out", {});
    if (!exported) return one_line(exported.error());
    if (exported->winners + exported->timings == 0) return;
    const auto again = opgauge::import_flaggems(folder() / "out", folder() / "again", {});
    if (!again) return one_line(again.error());
    if (again->after.winners != imported->after.winners) std::abort();
    if (again->after.timings != imported->after.timings) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto file = folder() / "in";
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
    import_and_back(file);
    const auto merged =
        opgauge::merge_stores(folder() / "merged", std::vector<opgauge::MergeSource>{{file, "in"}});
    if (!merged) one_line(merged.error());
    for (const char* name : {"in", "store", "out", "again", "merged"}) {
        std::filesystem::remove(folder() / name);
    }
    return 0;
}
