// One HTTP/1 message at a time, of either kind; for the sources of this directory only.
#pragma once

#include <llhttp.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "native/http/h1_head_reader.hpp"

namespace tidemark::http {

class H1Parser {
 public:
  enum class State : std::uint8_t { Head, Body, Complete, Failed };

  H1Parser(H1HeadReader::Kind kind, const CodecLimits& limits);

  State state() const { return state_; }
  Fault fault() const { return fault_; }
  std::string_view why() const { return why_; }

  /// State::Head only. Consumes until the head is there; leads to Body, to Complete (there is no body) or to Failed.
  std::size_t feed_head(std::string_view bytes);
  /// State::Body only. Leaves the body's pieces in `pieces`; returns what was consumed. Leads to Complete or to Failed.
  std::size_t feed_body(std::string_view bytes);
  /// Before the head: the message will have no body, whatever its head says (RFC 9112 § 6.3, 1).
  void expect_no_body(bool none) { no_body_ = none; }
  /// Whether only the connection's end will end the body.
  bool until_end() const { return until_end_; }
  bool keep_alive() const { return keep_alive_; }
  void restart();
  void fail(Fault fault, std::string_view why);

  // Of the head.
  std::string start;  // the request's target, or the reason
  Headers fields;
  std::string method() const;
  int status() const { return llhttp_.status_code; }
  int minor_version() const { return llhttp_.http_minor; }

  // Of the body: parts of what feed_body() got last.
  std::vector<std::string_view> pieces;

 private:
  struct Callbacks;
  void check_framing();
  void check_between(std::string_view bytes);
  std::size_t run(std::string_view bytes);

  H1HeadReader head_;
  llhttp_t llhttp_{};
  CodecLimits limits_;
  H1HeadReader::Kind kind_;
  State state_ = State::Head;
  Fault fault_ = Fault::BadMessage;
  std::string_view why_;
  std::string name_;  // of the field that is being told
  std::string value_;
  std::size_t body_bytes_ = 0;
  std::size_t between_bytes_ = 0;  // of chunk sizes and trailers since the last piece of the body
  char between_last_ = 0;
  bool head_parsed_ = false;
  bool no_body_ = false;
  bool chunked_ = false;
  bool until_end_ = false;
  bool keep_alive_ = false;
  bool complete_ = false;
};

}  // namespace tidemark::http
