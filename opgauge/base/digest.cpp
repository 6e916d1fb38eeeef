// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/digest.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <fstream>
#include <memory>
#include <stdexcept>

namespace opgauge {
namespace {

using Hash = std::array<unsigned char, EVP_MAX_MD_SIZE>;

void must(int status) {
    if (status != 1) throw std::runtime_error("libcrypto lacks a digest");
}

std::string hex(const Hash& hash, unsigned length) {
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string text;
    for (unsigned i = 0; i < length; ++i) {
        text.push_back(kHex[hash[i] >> 4U]);
        text.push_back(kHex[hash[i] & 15U]);
    }
    return text;
}

std::string digest_hex(std::string_view bytes, const EVP_MD* kind) {
    Hash hash{};
    unsigned length = 0;
    must(EVP_Digest(bytes.data(), bytes.size(), hash.data(), &length, kind, nullptr));
    return hex(hash, length);
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
    return digest_hex(bytes, EVP_sha256());
}

Result<std::string> sha256_of_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                          &EVP_MD_CTX_free);
    must(EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr));
    std::array<char, 1 << 16> buffer{};
    while (file) {
        file.read(buffer.data(), buffer.size());
        must(EVP_DigestUpdate(context.get(), buffer.data(),
                              static_cast<std::size_t>(file.gcount())));
    }
    if (!file.eof()) {
        return fail(ErrorKind::environment, fmt::format("cannot read {}", path.string()));
    }
    Hash hash{};
    unsigned length = 0;
    must(EVP_DigestFinal_ex(context.get(), hash.data(), &length));
    return hex(hash, length);
}

std::string md5_hex(std::string_view bytes) {
    return digest_hex(bytes, EVP_md5());
}

std::string short_digest(std::string_view bytes) {
    return sha256_hex(bytes).substr(0, 16);
}

}  // namespace opgauge
