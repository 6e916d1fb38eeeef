// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tl/expected.hpp>

#include <string>
#include <utility>

namespace opgauge {

// What kind of trouble an error is; cli/exit_codes.h maps each kind to one documented exit code.
enum class ErrorKind {
    usage,    // the caller's words are wrong: unknown name, bad option, bad file of the caller's
    refused,  // understood, but comparing or measuring it would mislead
    environment,  // something that the machine lacks or forbids: device, corpus, Python, disk
    failed,       // it was tried and went wrong
};

// The one error type. `message` is one line: what was tried, on what, what came back, what to do.
struct Error {
    ErrorKind kind = ErrorKind::failed;
    std::string message;
};

template <typename T>
using Result = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error> fail(ErrorKind kind, std::string message) {
    return tl::unexpected<Error>(Error{kind, std::move(message)});
}

}  // namespace opgauge

// OPGAUGE_TRY(expr): returns the error of `expr` from the enclosing function, if it has one.
#define OPGAUGE_TRY(expr)                                                  \
    do {                                                                   \
        if (auto opgauge_try_ = (expr); !opgauge_try_) {                   \
            return tl::unexpected<::opgauge::Error>(opgauge_try_.error()); \
        }                                                                  \
    } while (false)

#define OPGAUGE_CONCAT_INNER_(a, b) a##b
#define OPGAUGE_CONCAT_(a, b) OPGAUGE_CONCAT_INNER_(a, b)
#define OPGAUGE_TRY_ASSIGN_(name, target, expr)                       \
    auto name = (expr);                                               \
    if (!name) return tl::unexpected<::opgauge::Error>(name.error()); \
    target = std::move(*name)

// OPGAUGE_TRY_ASSIGN(auto x, expr): assigns the value of `expr` or returns its error.
#define OPGAUGE_TRY_ASSIGN(target, expr) \
    OPGAUGE_TRY_ASSIGN_(OPGAUGE_CONCAT_(opgauge_result_, __LINE__), target, expr)
