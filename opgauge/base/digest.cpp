// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/digest.h"

#include <openssl/evp.h>

#include <array>
#include <stdexcept>

namespace opgauge {

std::string sha256_hex(std::string_view bytes) {
    std::array<unsigned char, 32> hash{};
    unsigned length = 0;
    if (EVP_Digest(bytes.data(), bytes.size(), hash.data(), &length, EVP_sha256(), nullptr) != 1) {
        throw std::runtime_error("libcrypto has no SHA-256");
    }
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string text;
    for (const unsigned char byte : hash) {
        text.push_back(kHex[byte >> 4U]);
        text.push_back(kHex[byte & 15U]);
    }
    return text;
}

std::string short_digest(std::string_view bytes) {
    return sha256_hex(bytes).substr(0, 16);
}

}  // namespace opgauge
