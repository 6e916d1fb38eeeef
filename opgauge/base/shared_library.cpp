// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/shared_library.h"

#include "opgauge/base/text.h"

#include <dlfcn.h>

#include <utility>

namespace opgauge {

SharedLibrary::SharedLibrary(void* handle, std::string name)
    : handle_(handle), name_(std::move(name)) {}

SharedLibrary::SharedLibrary(SharedLibrary&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), name_(std::move(other.name_)) {}

SharedLibrary& SharedLibrary::operator=(SharedLibrary&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(name_, other.name_);
    return *this;
}

SharedLibrary::~SharedLibrary() {
    if (handle_ != nullptr) ::dlclose(handle_);
}

Result<SharedLibrary> SharedLibrary::open(std::span<const std::string> names) {
    std::vector<std::string> reasons;
    for (const auto& name : names) {
        if (void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
            return SharedLibrary(handle, name);
        }
        const char* reason = ::dlerror();
        reasons.push_back(reason != nullptr ? printable(reason) : name + ": unknown loader error");
    }
    return fail(ErrorKind::environment, join(reasons, "; "));
}

void* SharedLibrary::address_of(const char* symbol_name) const {
    return ::dlsym(handle_, symbol_name);
}

}  // namespace opgauge
