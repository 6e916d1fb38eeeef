// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/result.h"

#include <span>
#include <string>
#include <vector>

namespace opgauge {

// A library opened at run time with RTLD_NOW | RTLD_LOCAL: several vendors' libraries export the
// same names, so nothing may leak into the global scope and every symbol is taken by handle.
class SharedLibrary {
  public:
    // Tries the names in order. The error lists what the loader said of each.
    static Result<SharedLibrary> open(std::span<const std::string> names);
    SharedLibrary(SharedLibrary&& other) noexcept;
    SharedLibrary& operator=(SharedLibrary&& other) noexcept;
    SharedLibrary(const SharedLibrary&) = delete;
    SharedLibrary& operator=(const SharedLibrary&) = delete;
    ~SharedLibrary();

    const std::string& name() const { return name_; }

    // Leaves the library loaded until the process ends: unloading some takes longer than using
    // them.
    void keep_loaded() { handle_ = nullptr; }

    // Null where the library has no such symbol. F is a function type: symbol<int(unsigned)>("f").
    template <typename F>
    F* symbol(const char* symbol_name) const {
        return reinterpret_cast<F*>(address_of(symbol_name));
    }

  private:
    SharedLibrary(void* handle, std::string name);
    void* address_of(const char* symbol_name) const;
    void* handle_ = nullptr;
    std::string name_;
};

}  // namespace opgauge
