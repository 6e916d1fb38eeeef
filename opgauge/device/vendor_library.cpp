// SPDX-License-Identifier: Apache-2.0
#include "opgauge/device/vendor_library.h"

#include "opgauge/base/file.h"
#include "opgauge/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace opgauge {

Result<SharedLibrary> open_vendor_library(std::span<const std::string_view> sonames,
                                          std::span<const std::string_view> folders,
                                          const Environment& environment) {
    std::vector<std::string> names;
    const auto only = environment.get("OPGAUGE_LIBRARY_PATH");
    if (only) {
        for (const auto& folder : split(*only, ':')) {
            for (const auto soname : sonames) names.push_back(fmt::format("{}/{}", folder, soname));
        }
    } else {
        for (const auto soname : sonames) names.emplace_back(soname);
        for (const auto folder : folders) {
            for (const auto soname : sonames) names.push_back(fmt::format("{}/{}", folder, soname));
        }
    }
    auto library = SharedLibrary::open(names);
    if (library) return library;
    // The loader's long list is of use only where a file is there and does not load.
    for (const auto& name : names) {
        std::error_code error;
        if (name.find('/') != std::string::npos && std::filesystem::exists(name, error)) {
            return fail(ErrorKind::environment,
                        fmt::format("{} is there but does not load: {}", name,
                                    printable(library.error().message)));
        }
    }
    return fail(ErrorKind::environment, fmt::format("no library {}", sonames.front()));
}

Result<void> SymbolTable::check() const {
    if (missing_.empty()) return {};
    return fail(ErrorKind::environment, fmt::format("{} is too old: it lacks {}; update the driver",
                                                    library_.name(), join(missing_, ", ")));
}

std::optional<std::string> pci_presence(std::string_view vendor_id,
                                        const Environment& environment) {
    const std::filesystem::path root =
        environment.get("OPGAUGE_SYSFS").value_or("/sys") + "/bus/pci/devices";
    std::error_code error;
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(root, error)) {
        const auto vendor = read_file(entry.path() / "vendor");
        const auto kind = read_file(entry.path() / "class");
        if (!vendor || !kind) continue;
        const std::string id = lower(trim(*vendor));
        const std::string_view code = trim(*kind);
        // 03xx: display; 12xx: processing accelerator. An audio function (0403) is the same card.
        if (id == fmt::format("0x{}", vendor_id) &&
            (code.starts_with("0x03") || code.starts_with("0x12"))) {
            found.push_back(entry.path().filename().string());
        }
    }
    if (found.empty()) return std::nullopt;
    std::sort(found.begin(), found.end());
    return fmt::format(
        "a device with the PCI vendor id {} is on the bus ({}), but no driver software "
        "answers for it",
        vendor_id, join(found, ", "));
}

std::string normal_pci_id(std::string_view pci_id) {
    std::string text = lower(trim(pci_id));
    const auto colon = text.find(':');
    // "19:00.0" has no domain; NVIDIA prints eight digits of it.
    if (std::count(text.begin(), text.end(), ':') == 1) return "0000:" + text;
    if (colon != std::string::npos && colon > 4) text.erase(0, colon - 4);
    return text;
}

std::string read_first_line(const std::string& path) {
    const auto text = read_file(path);
    if (!text) return {};
    return std::string(trim(text->substr(0, text->find('\n'))));
}

std::string process_name(long long pid) {
    return read_first_line(fmt::format("/proc/{}/comm", pid));
}

}  // namespace opgauge
