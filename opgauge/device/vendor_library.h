// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"
#include "opgauge/base/shared_library.h"
#include "opgauge/device/device.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace opgauge {

// Opens a vendor's management library by its sonames, through the loader's path and then in the
// folders where the vendor puts it. Where OPGAUGE_LIBRARY_PATH is set (folders with ':' between),
// only these are searched, so that a machine's own libraries can be left out. Kind environment: one
// line that says "no library" and what the loader said, or that a library is there and broken.
Result<SharedLibrary> open_vendor_library(std::span<const std::string_view> sonames,
                                          std::span<const std::string_view> folders,
                                          const Environment& environment);

// Collects required symbols that a library lacks: it is too old (or not what its name says).
class SymbolTable {
  public:
    explicit SymbolTable(const SharedLibrary& library) : library_(library) {}

    template <typename F>
    F* required(const char* name) {
        F* function = library_.symbol<F>(name);
        if (function == nullptr) missing_.emplace_back(name);
        return function;
    }
    template <typename F>
    F* optional(const char* name) const {
        return library_.symbol<F>(name);
    }
    // Kind environment: names the library and the symbols that it lacks.
    Result<void> check() const;

  private:
    const SharedLibrary& library_;
    std::vector<std::string> missing_;
};

// "a device with the PCI vendor id 10de is on the bus (0000:19:00.0), but ..." for a vendor whose
// software did not answer; nullopt where there is none. Display and accelerator functions only.
std::optional<std::string> pci_presence(std::string_view vendor_id, const Environment& environment);

// "0000:3b:00.0" of "00000000:3B:00.0".
std::string normal_pci_id(std::string_view pci_id);

// The first line of a small file such as sysfs has; empty where it cannot be read.
std::string read_first_line(const std::string& path);

// The process's name from /proc, empty where it is not visible.
std::string process_name(long long pid);

// A C string buffer that a library filled, cut at its first NUL.
template <std::size_t N>
std::string from_buffer(const char (&buffer)[N]) {
    const std::string_view text(buffer, N);
    return std::string(text.substr(0, text.find('\0')));
}

}  // namespace opgauge
