// SPDX-License-Identifier: Apache-2.0
// Asks three questions; each answer must be to its question. Says what it was answered.
#include "tests/children/child.h"

int main() {
    for (const char* type : {"hello", "device", "case_begin"}) {
        const std::string answer = child::ask(type);
        const std::string to = "\"to\":" + std::to_string(child::last_seq()) + "}";
        if (!answer.ends_with(to)) return 88;
        child::send("event", ",\"answer\":" + answer);
    }
    child::send("bye", ",\"exit\":0");
}
