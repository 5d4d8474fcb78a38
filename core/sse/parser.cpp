// Server-sent events, bytes to events.
#include "core/sse/parser.hpp"

#include <algorithm>
#include <cstring>

#include "core/sse/byte_scan.hpp"

// What next() runs for every event: left to itself GCC calls these, which costs a sixth of the parser's speed.
#define TIDEMARK_HOT [[gnu::always_inline]] inline

namespace tidemark::sse {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kLineEnds[] = {"\n", "\r\n", "\r"};  // by LineEnd
constexpr std::uint64_t kMaxRetryMs = (std::uint64_t{1} << 53) - 1;

constexpr std::size_t kNoSuchField = static_cast<std::size_t>(-1);

// Where the value begins if `line` is the field `name`, with or without a colon; one space after the colon is no part
// of it.
inline std::size_t value_of(std::string_view line, std::string_view name) {
  if (line.size() < name.size() || std::memcmp(line.data(), name.data(), name.size()) != 0) return kNoSuchField;
  if (line.size() == name.size()) return line.size();
  if (line[name.size()] != ':') return kNoSuchField;
  const std::size_t at = name.size() + 1;
  return at < line.size() && line[at] == ' ' ? at + 1 : at;
}

}  // namespace

std::string_view describe(Error error) {
  switch (error) {
    case Error::None:
      return "no error";
    case Error::LineTooLong:
      return "a line is longer than allowed";
    case Error::EventTooLarge:
      return "an event is larger than allowed";
  }
  return "unknown error";
}

Parser::Parser(Limits limits) : limits_(limits) {}

void Parser::feed(std::string_view chunk) {
  cursor_ = chunk.data();
  chunk_end_ = cursor_ + chunk.size();
  if (at_start_) skip_byte_order_mark();
}

void Parser::skip_byte_order_mark() {
  for (; cursor_ != chunk_end_; ++cursor_) {
    if (byte_order_mark_ < kByteOrderMark.size() && *cursor_ == kByteOrderMark[byte_order_mark_]) {
      ++byte_order_mark_;
      continue;
    }
    at_start_ = false;
    if (byte_order_mark_ < kByteOrderMark.size()) hold_start_of_mark();
    return;
  }
}

// What looked like a mark, or nothing, begins the first line.
void Parser::hold_start_of_mark() {
  held_.append(kByteOrderMark.data(), byte_order_mark_, kByteOrderMark.size());
  partial_line_ = byte_order_mark_;
}

// The chunk is about to go: what it has of an unfinished block moves to held_.
[[gnu::noinline]] void Parser::keep_rest() {
  const char* const from = held_.empty() && block_size_ + partial_line_ > 0 ? block_in_chunk_ : cursor_;
  held_.append(from, static_cast<std::size_t>(chunk_end_ - from), limits_.max_event_bytes);
  cursor_ = chunk_end_;
}

// Whether the line under way may have `size` bytes.
Error Parser::check_line(std::size_t size) const {
  const std::size_t room = limits_.max_event_bytes - block_size_;
  if (size > limits_.max_line_bytes && limits_.max_line_bytes <= room) return Error::LineTooLong;
  return size > room ? Error::EventTooLarge : Error::None;
}

TIDEMARK_HOT void Parser::interpret_line(std::string_view line) {
  const auto range_from = [&](std::size_t value_at) { return Range{block_size_ + value_at, line.size() - value_at}; };
  std::size_t at = 0;
  switch (line[0]) {
    case 'd':
      if ((at = value_of(line, "data")) != kNoSuchField) add_data(line, at);
      break;
    case 'e':
      if ((at = value_of(line, "event")) != kNoSuchField) name_ = range_from(at);
      break;
    case 'i':
      if ((at = value_of(line, "id")) == kNoSuchField) break;
      has_id_ = true;
      if (line.find('\0', at) != std::string_view::npos) break;
      sets_id_ = true;
      id_ = range_from(at);
      break;
    case 'r':
      if ((at = value_of(line, "retry")) != kNoSuchField) set_retry(line.substr(at));
      break;
    default:  // a comment, or a field without a meaning
      break;
  }
}

TIDEMARK_HOT void Parser::add_data(std::string_view line, std::size_t value_at) {
  const std::string_view value = line.substr(value_at);
  if (data_lines_ == 0) {
    data_lines_ = 1;
    data_ = {block_size_ + value_at, value.size()};
    return;
  }
  if (data_lines_ == 1) {
    data_lines_ = 2;
    joined_.append(line.data() - block_size_ + data_.at, data_.size, limits_.max_event_bytes);
  }
  joined_.append("\n", 1, limits_.max_event_bytes);
  joined_.append(value.data(), value.size(), limits_.max_event_bytes);
}

[[gnu::noinline]] void Parser::set_retry(std::string_view digits) {
  if (digits.empty()) return;
  std::uint64_t value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return;
    value = std::min(value * 10 + static_cast<std::uint64_t>(c - '0'), kMaxRetryMs);
  }
  retry_ms_ = value;
}

TIDEMARK_HOT Step Parser::report(Event& out) {
  reported_ = true;
  const char* const block = held_.empty() ? block_in_chunk_ : held_.data();
  const auto view = [block](Range range) { return std::string_view(block + range.at, range.size); };
  if (sets_id_) last_event_id_ = view(id_);
  out.block = {block, block_size_};
  out.line_end = kLineEnds[static_cast<std::size_t>(line_end_)];
  out.has_id = has_id_;
  if (data_lines_ == 0) {
    out.name = out.data = out.id = {};
    return Step::Comment;
  }
  out.name = view(name_);
  out.data = data_lines_ == 1 ? view(data_) : std::string_view(joined_.data(), joined_.size());
  out.id = last_event_id_;
  return Step::Event;
}

TIDEMARK_HOT void Parser::start_block() {
  if (!held_.empty()) held_.clear();
  if (!joined_.empty()) joined_.clear();
  block_size_ = partial_line_ = 0;
  name_ = {};
  data_lines_ = 0;
  has_id_ = sets_id_ = reported_ = false;
}

[[gnu::noinline]] Step Parser::fail(Error error) {
  start_block();
  error_ = error;
  return Step::Failed;
}

Step Parser::next(Event& out) {
  if (error_ != Error::None) return Step::Failed;
  if (reported_) start_block();
  while (cursor_ != chunk_end_) {
    if (after_cr_) {
      after_cr_ = false;
      if (*cursor_ == '\n') {
        if (block_size_ > 0) {
          if (block_size_ == limits_.max_event_bytes) return fail(Error::EventTooLarge);
          if (!held_.empty()) held_.append(cursor_, 1, limits_.max_event_bytes);
          ++block_size_;
          line_end_ = LineEnd::Crlf;
        }
        ++cursor_;
        continue;
      }
    }
    if (block_size_ == 0) block_in_chunk_ = cursor_;

    const char* const stop = find_line_end(cursor_, chunk_end_);
    const std::size_t line_size = partial_line_ + static_cast<std::size_t>(stop - cursor_);
    if (const Error error = check_line(line_size); error != Error::None) return fail(error);
    if (stop == chunk_end_) {
      partial_line_ = line_size;
      break;
    }
    const char* const after = stop + 1;
    after_cr_ = *stop == '\r';
    if (line_size == 0) {
      cursor_ = after;
      if (block_size_ == 0) continue;
      return report(out);
    }

    if (block_size_ + line_size == limits_.max_event_bytes) return fail(Error::EventTooLarge);
    const char* line = cursor_;
    if (!held_.empty()) {
      held_.append(cursor_, static_cast<std::size_t>(after - cursor_), limits_.max_event_bytes);
      line = held_.data() + block_size_;
    }
    interpret_line({line, line_size});
    block_size_ += line_size + 1;
    partial_line_ = 0;
    line_end_ = after_cr_ ? LineEnd::Cr : LineEnd::Lf;
    cursor_ = after;
  }
  keep_rest();
  return Step::NeedMore;
}

std::string_view Parser::ahead() {
  if (reported_) start_block();
  if (block_size_ + partial_line_ > 0 || after_cr_ || error_ != Error::None) return {};
  return {cursor_, static_cast<std::size_t>(chunk_end_ - cursor_)};
}

bool Parser::take_ahead(Event& event) {
  if (event.block.size() > limits_.max_event_bytes || event.block.size() > limits_.max_line_bytes) return false;
  if (event.has_id) last_event_id_ = event.id;
  event.id = last_event_id_;
  cursor_ += event.block.size() + 1;
  line_end_ = LineEnd::Lf;
  reported_ = true;
  return true;
}

Step Parser::end(Tail tail, Event& out) {
  if (error_ != Error::None) return Step::Failed;
  if (reported_) start_block();
  if (at_start_ && byte_order_mark_ < kByteOrderMark.size()) hold_start_of_mark();
  if (const Error error = check_line(partial_line_); error != Error::None) return fail(error);
  if (tail == Tail::Discard) start_block();
  if (held_.empty()) return Step::NeedMore;
  if (partial_line_ > 0) interpret_line({held_.data() + block_size_, partial_line_});
  block_size_ += partial_line_;
  partial_line_ = 0;
  return report(out);
}

void Parser::reset() {
  start_block();
  error_ = Error::None;
  cursor_ = chunk_end_ = nullptr;
  line_end_ = LineEnd::Lf;
  after_cr_ = false;
  at_start_ = true;
  byte_order_mark_ = 0;
}

bool Parser::mid_event() const {
  if (reported_ || error_ != Error::None) return false;
  const bool mark_under_way = at_start_ && byte_order_mark_ > 0 && byte_order_mark_ < kByteOrderMark.size();
  return mark_under_way || block_size_ + partial_line_ > 0;
}

}  // namespace tidemark::sse
