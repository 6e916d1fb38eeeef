// SPDX-License-Identifier: Apache-2.0
#include "opgauge/device/discovery.h"

#include "opgauge/device/backends.h"

#include <stdexcept>
#include <thread>

namespace opgauge {

std::vector<Discovery> discover_all(const std::vector<std::string>& names,
                                    const Environment& environment) {
    std::vector<Discovery> found(names.size());
    std::vector<std::jthread> threads;  // joined when they leave the scope
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto backend = find_backend(names[i]);
        if (!backend) throw std::logic_error(backend.error().message);
        threads.emplace_back(
            [&found, i, b = *backend, &environment] { found[i] = b->discover(environment); });
    }
    threads.clear();
    return found;
}

}  // namespace opgauge
