// SPDX-License-Identifier: Apache-2.0
#include "opgauge/corpus/pytest_scan.h"

#include "opgauge/base/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

namespace opgauge {
namespace {

constexpr std::array<std::string_view, 9> kBuiltinMarks = {
    "parametrize",    "skip",    "skipif",   "xfail",  "usefixtures",
    "filterwarnings", "timeout", "tryfirst", "trylast"};
constexpr std::string_view kMarkPrefix = "pytest.mark.";

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string_view word_at(std::string_view text) {
    std::size_t end = 0;
    while (end < text.size() && is_word(text[end])) ++end;
    return text.substr(0, end);
}

// Splits a file into logical lines: brackets, strings and backslashes carry on, comments go.
class LogicalLines {
  public:
    explicit LogicalLines(std::string_view text) : text_(text) {}

    // False at the end. `line` has its indent as blanks; `number` is the first physical line.
    bool next(std::string& line, int& number) {
        line.clear();
        if (position_ >= text_.size()) return false;
        number = line_number_;
        int depth = 0;
        while (position_ < text_.size()) {
            const char c = text_[position_];
            if (c == '\n') {
                ++line_number_;
                ++position_;
                if (depth == 0) return true;
                line.push_back(' ');
            } else if (c == '#') {
                skip_comment();
            } else if (c == '\'' || c == '"') {
                skip_string();
                line += "\"\"";
            } else if (c == '\\') {
                skip_escape();
            } else {
                if (c == '(' || c == '[' || c == '{') ++depth;
                if ((c == ')' || c == ']' || c == '}') && depth > 0) --depth;
                line.push_back(c == '\t' ? ' ' : c);
                ++position_;
            }
        }
        return true;
    }

  private:
    void skip_comment() {
        while (position_ < text_.size() && text_[position_] != '\n') ++position_;
    }
    void skip_escape() {
        ++position_;
        if (position_ < text_.size() && text_[position_] == '\n') ++line_number_;
        if (position_ < text_.size()) ++position_;
    }
    void skip_string() {
        const char quote = text_[position_];
        const std::string triple(3, quote);
        const bool long_string = text_.substr(position_, 3) == triple;
        position_ += long_string ? 3 : 1;
        while (position_ < text_.size()) {
            const char c = text_[position_];
            if (c == '\\') {
                skip_escape();
                continue;
            }
            if (c == '\n') {
                if (!long_string) return;  // unterminated: the line ends it
                ++line_number_;
            }
            if (long_string ? text_.substr(position_, 3) == triple : c == quote) {
                position_ += long_string ? 3 : 1;
                return;
            }
            ++position_;
        }
    }

    std::string_view text_;
    std::size_t position_ = 0;
    int line_number_ = 1;
};

// What stands above the next def: marks, and where they began.
struct Pending {
    std::vector<std::string> marks;
    std::vector<std::string> case_marks;
    int line = 0;
};

bool is_builtin(const std::string& mark) {
    return std::find(kBuiltinMarks.begin(), kBuiltinMarks.end(), mark) != kBuiltinMarks.end();
}

void take_decorator(std::string_view code, int number, Pending& pending) {
    if (pending.line == 0) pending.line = number;
    for (auto at = code.find(kMarkPrefix); at != std::string_view::npos;
         at = code.find(kMarkPrefix, at + 1)) {
        const std::string mark(word_at(code.substr(at + kMarkPrefix.size())));
        if (is_builtin(mark)) continue;
        // The decorator itself marks the function; a mark inside it, one of its parameter sets.
        (at == 0 ? pending.marks : pending.case_marks).push_back(mark);
    }
}

struct OpenClass {
    std::string name;
    std::size_t indent = 0;
    std::vector<std::string> marks;
};

}  // namespace

std::vector<CorpusNode> scan_pytest_file(std::string_view text, const std::string& file) {
    std::vector<CorpusNode> nodes;
    LogicalLines lines(text);
    std::string line;
    int number = 0;
    Pending pending;
    std::optional<OpenClass> open_class;
    while (lines.next(line, number)) {
        const std::string_view code = trim(line);
        if (code.empty()) continue;
        const std::size_t indent = line.find_first_not_of(' ');
        if (open_class && indent <= open_class->indent) open_class.reset();
        const bool here = indent == 0 || open_class;
        if (here && code[0] == '@') {
            take_decorator(trim(code.substr(1)), number, pending);
            continue;
        }
        std::string_view rest = code.starts_with("async def ") ? code.substr(6) : code;
        if (here && rest.starts_with("def test_")) {
            const std::string function(word_at(rest.substr(4)));
            CorpusNode node;
            node.file = file;
            node.function = function;
            node.marks = pending.marks;
            node.case_marks = pending.case_marks;
            node.line = number;
            node.id =
                file + "::" + (open_class ? open_class->name + "::" : std::string()) + function;
            if (open_class) {
                node.marks.insert(node.marks.end(), open_class->marks.begin(),
                                  open_class->marks.end());
            }
            nodes.push_back(std::move(node));
        } else if (indent == 0 && code.starts_with("class Test")) {
            open_class = OpenClass{std::string(word_at(code.substr(6))), indent, pending.marks};
        }
        pending = {};
    }
    return nodes;
}

std::vector<std::string> scan_options(std::string_view text) {
    std::vector<std::string> options;
    // Quoted words that begin with two dashes; which of several a condition picks is not decided
    // here.
    for (std::size_t i = text.find("\"--"); i != std::string_view::npos;
         i = text.find("\"--", i + 3)) {
        const auto end = text.find('"', i + 1);
        if (end == std::string_view::npos) break;
        const std::string option(text.substr(i + 1, end - i - 1));
        const bool plain = std::all_of(option.begin(), option.end(),
                                       [](char c) { return is_word(c) || c == '-'; });
        if (plain && std::find(options.begin(), options.end(), option) == options.end()) {
            options.push_back(option);
        }
    }
    return options;
}

}  // namespace opgauge
