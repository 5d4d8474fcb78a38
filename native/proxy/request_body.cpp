// A scan over the members of a JSON body's top-level object.
#include "native/proxy/request_body.hpp"

#include <array>
#include <nlohmann/json.hpp>

namespace tidemark::proxy {
namespace {

constexpr std::array<std::string_view, 3> kResumeFields{"resumeSeq", "receivedLength", "tailFingerprint"};

struct Member {
  std::size_t begin = 0;   // of the key's opening quote
  std::size_t end = 0;     // after the value
  std::string_view key;    // as written, without quotes
  std::string_view value;  // as written
};

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  /// Calls `take(member)` for each member; false where the text is not one object and nothing else.
  template <class Take>
  bool object(const Take& take) {
    space();
    if (!eat('{')) return false;
    space();
    if (eat('}')) return at_end();
    for (;;) {
      Member member;
      member.begin = at_;
      if (!string(member.key)) return false;
      space();
      if (!eat(':')) return false;
      space();
      const std::size_t value = at_;
      if (!skip_value()) return false;
      member.end = at_;
      member.value = text_.substr(value, at_ - value);
      take(member);
      space();
      if (eat('}')) return at_end();
      if (!eat(',')) return false;
      space();
    }
  }

 private:
  bool at_end() {
    space();
    return at_ == text_.size();
  }

  void space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) {
      ++at_;
    }
  }

  bool eat(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool string(std::string_view& inside) {
    if (!eat('"')) return false;
    const std::size_t begin = at_;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"') {
        inside = text_.substr(begin, at_ - begin);
        ++at_;
        return true;
      }
      if (text_[at_] == '\\') ++at_;
    }
    return false;
  }

  bool skip_value() {
    std::string_view inside;
    std::size_t depth = 0;
    const std::size_t begin = at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        if (!string(inside)) return false;
        continue;
      }
      if (c == '{' || c == '[') {
        ++depth;
      } else if (c == '}' || c == ']') {
        if (depth == 0) break;
        --depth;
      } else if (depth == 0 && (c == ',' || c == ' ' || c == '\t' || c == '\n' || c == '\r')) {
        break;
      }
      ++at_;
    }
    return depth == 0 && at_ > begin;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// Whether a key, perhaps written with escapes, is `name`.
bool is_key(std::string_view written, std::string_view name) {
  if (written.find('\\') == std::string_view::npos) return written == name;
  const auto parsed = nlohmann::json::parse("\"" + std::string(written) + "\"", nullptr, false);
  return parsed.is_string() && parsed.get_ref<const std::string&>() == name;
}

bool is_resume_field(const Member& member) {
  for (const std::string_view name : kResumeFields) {
    if (is_key(member.key, name)) return true;
  }
  return false;
}

std::optional<std::string> scalar(std::string_view written) {
  if (written == "null") return std::nullopt;
  if (written.size() >= 2 && written.front() == '"') written = written.substr(1, written.size() - 2);
  return std::string(written);
}

}  // namespace

std::optional<BodyFacts> read_body(std::string_view body) {
  BodyFacts facts;
  const bool object = Scanner(body).object([&facts](const Member& member) {
    if (is_key(member.key, "stream")) facts.stream = member.value == "true";
    if (!is_resume_field(member)) return;
    facts.has_resume_fields = true;
    if (is_key(member.key, kResumeFields[0])) facts.resume_seq = scalar(member.value);
    if (is_key(member.key, kResumeFields[1])) facts.received_length = scalar(member.value);
    if (is_key(member.key, kResumeFields[2])) facts.tail_fingerprint = scalar(member.value);
  });
  return object ? std::optional(std::move(facts)) : std::nullopt;
}

std::string without_resume_fields(std::string_view body) {
  std::string out;
  std::size_t last_end = 0;  // after the last member, kept or not
  bool any = false;
  bool any_kept = false;
  Scanner(body).object([&](const Member& member) {
    if (!any) out.append(body.substr(0, member.begin));
    if (!is_resume_field(member)) {
      if (any_kept) out.append(body.substr(last_end, member.begin - last_end));
      out.append(body.substr(member.begin, member.end - member.begin));
      any_kept = true;
    }
    any = true;
    last_end = member.end;
  });
  out.append(body.substr(last_end));
  return out;
}

}  // namespace tidemark::proxy
