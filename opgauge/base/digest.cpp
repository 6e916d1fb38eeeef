// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/digest.h"

#include <openssl/evp.h>

#include <array>
#include <stdexcept>

namespace opgauge {
namespace {

std::string digest_hex(std::string_view bytes, const EVP_MD* kind) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
    unsigned length = 0;
    if (EVP_Digest(bytes.data(), bytes.size(), hash.data(), &length, kind, nullptr) != 1) {
        throw std::runtime_error("libcrypto lacks a digest");
    }
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string text;
    for (unsigned i = 0; i < length; ++i) {
        text.push_back(kHex[hash[i] >> 4U]);
        text.push_back(kHex[hash[i] & 15U]);
    }
    return text;
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
    return digest_hex(bytes, EVP_sha256());
}

std::string md5_hex(std::string_view bytes) {
    return digest_hex(bytes, EVP_md5());
}

std::string short_digest(std::string_view bytes) {
    return sha256_hex(bytes).substr(0, 16);
}

}  // namespace opgauge
