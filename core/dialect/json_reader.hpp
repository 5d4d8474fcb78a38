// A pull parser for one JSON text (RFC 8259): finds what is asked for and checks the grammar of all that it passes
// over.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/dialect/json_scan.hpp"
#include "core/dialect/words.hpp"

namespace tidemark::dialect {

/// A string as it stands in the text, quotes left out; json_text.hpp turns it into what it says.
struct JsonString {
  std::string_view raw;
  bool present = false;  // false: there was no string
  bool escaped = false;  // it holds a backslash

  explicit operator bool() const { return present; }
};

/// What the next value is. Null, true and false are told apart by their reading.
enum class JsonType : std::uint8_t { Object, Array, String, Number, Literal, Broken };

/// Reads forwards only; views lie in the text. Every call that reads a value reads exactly one, whatever its type:
/// where it is of another type than asked for, the result says "none" and the value has been passed over.
///
/// An error is final and makes every further call return "none" at once; at_end() tells. Errors: any departure from the
/// grammar of RFC 8259 (duplicate keys are allowed), a byte above 0x7F outside strings, more than kMaxDepth nested
/// containers. Inside strings ill-formed UTF-8 is passed over: a client decodes an event stream as UTF-8 with
/// replacement before it reads JSON. Numbers may have any size. Time is linear in the text, memory constant.
class JsonReader {
 public:
  static constexpr std::size_t kMaxDepth = 128;

  explicit JsonReader(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  /// Calls `member(key)` for each member of an object; it must read exactly one value. The key is unescaped and valid
  /// until the next value is read; a key that is escaped and longer than kMaxKey is given as it stands. Returns false
  /// where the value is no object.
  template <class Member>
  bool object(Member member) {
    if (!enter('{')) return false;
    std::string_view key;
    while (next_key(key)) member(key);
    return true;
  }

  /// Calls `element()` for each element of an array; it must read exactly one value. Returns false where the value is
  /// no array.
  template <class Element>
  bool array(Element element) {
    if (!enter('[')) return false;
    while (next(']')) element();
    return true;
  }

  /// The same as ranges: keys as words, and nothing where the value is no object; elements, likewise. The loop's body
  /// must read exactly one value.
  struct Members;
  struct Elements;
  Members members();
  Elements elements();

  JsonType type();
  JsonString string();
  /// The same, into `out`.
  void string(JsonString& out);
  /// A whole number from 0 to 2^64 - 1 (a fraction of zeros, as in 12.0, is allowed).
  std::optional<std::uint64_t> whole_number();
  /// The same; 0 where there is none.
  std::uint64_t count();
  /// Whether the value is `true`.
  bool is_true();
  void skip() { raw(); }
  /// The value's text, whatever it is.
  std::string_view raw();

  /// What has not been read; empty after an error.
  std::string_view rest() const { return {at_, static_cast<std::size_t>(end_ - at_)}; }

  /// Whether exactly one value has been read, without an error and with nothing but white space after it.
  bool at_end();
  bool failed() const { return failed_; }

  static constexpr std::size_t kMaxKey = 64;

 private:
  char peek() const { return at_ != end_ ? *at_ : '\0'; }  // NUL is nowhere allowed where a value or sign is looked for
  void skip_space();
  void fail();
  bool enter(char opening);
  bool push(bool object);
  void pop() { --depth_; }
  bool in_object() const { return (nest_[(depth_ - 1) / 64] >> ((depth_ - 1) % 64) & 1u) != 0; }
  bool next(char closing);
  Word first_word();
  Word next_word();
  bool first_element();
  bool next_key(std::string_view& key);
  bool read_key(JsonString& key);
  bool read_string(JsonString& out);
  bool skip_scalar();
  bool skip_number();
  template <std::size_t N>
  bool skip_word(const char (&word)[N]);
  bool skip_container();
  std::optional<std::uint64_t> odd_whole_number();

  const char* at_;
  const char* end_;
  std::size_t depth_ = 0;
  std::array<std::uint64_t, kMaxDepth / 64> nest_{};  // a bit each open container: whether it is an object
  bool first_ = false;                                // a container has just been opened
  bool failed_ = false;
  std::array<char, kMaxKey> key_;  // an unescaped key; written before it is read
};

struct JsonReader::Members {
  struct Iterator {
    JsonReader& json;
    Word word;
    Word operator*() const { return word; }
    void operator++() { word = json.next_word(); }
    bool operator!=(const Iterator&) const { return word != Word::End; }
  };
  Iterator begin() const { return {json, json.first_word()}; }
  Iterator end() const { return {json, Word::End}; }
  JsonReader& json;
};
inline JsonReader::Members JsonReader::members() { return {*this}; }

struct JsonReader::Elements {
  struct Iterator {
    JsonReader& json;
    bool more;
    JsonReader& operator*() const { return json; }
    void operator++() { more = json.next(']'); }
    bool operator!=(const Iterator&) const { return more; }
  };
  Iterator begin() const { return {json, json.first_element()}; }
  Iterator end() const { return {json, false}; }
  JsonReader& json;
};
inline JsonReader::Elements JsonReader::elements() { return {*this}; }

/// Reads the escape at `at`, which points at a backslash. Returns the byte after it, or nullptr where it is none.
const char* end_of_escape(const char* at, const char* end);

}  // namespace tidemark::dialect
