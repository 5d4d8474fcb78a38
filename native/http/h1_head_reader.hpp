// Collects the head of an HTTP/1 message and holds every line to RFC 9112, before any parser sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "native/http/codec.hpp"

namespace tidemark::http {

/// Refuses what others may read differently: LF without CR, CR without LF, NUL and other control characters, folded
/// lines (RFC 9112 § 5.2), a space before the colon (§ 5.1), request lines with other than two single spaces. Each line
/// is checked when its LF has come. Empty lines before a message are skipped (§ 2.2).
class H1HeadReader {
 public:
  enum class Kind : std::uint8_t { Request, Response };
  enum class State : std::uint8_t { Reading, Complete, Failed };

  H1HeadReader(Kind kind, std::size_t limit) : limit_(limit), kind_(kind) {}

  /// Consumes up to the end of the head; returns how much.
  std::size_t feed(std::string_view bytes);
  State state() const { return state_; }
  /// The whole head, once Complete.
  std::string_view head() const { return head_; }
  /// Once Failed.
  Fault fault() const { return fault_; }
  std::string_view why() const { return why_; }
  /// Forgets the head, its memory too, for the next message.
  void restart();

 private:
  void take_line(std::string_view line);
  void take_request_line(std::string_view line);
  void take_status_line(std::string_view line);
  void take_field(std::string_view line);
  void fail(Fault fault, std::string_view why);

  std::string head_;
  std::size_t line_start_ = 0;
  std::size_t skipped_ = 0;  // bytes of empty lines before the head; they count towards the limit
  std::size_t limit_;
  std::string_view why_;
  Kind kind_;
  State state_ = State::Reading;
  Fault fault_ = Fault::BadMessage;
};

}  // namespace tidemark::http
