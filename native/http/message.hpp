// HTTP messages as values: header lists that keep order and case, and the heads of requests and responses.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark::http {

/// Whether two field names are the same (RFC 9110 § 5.1); only ASCII letters are folded.
bool equal_names(std::string_view a, std::string_view b);
/// True when a comma-separated list names `token`, case ignored.
bool has_token(std::string_view value, std::string_view token);

struct Header {
  std::string name;
  std::string value;
  bool operator==(const Header&) const = default;
};

/// A list of headers in the order they came, spelled as they came. Look-ups ignore case; all cost O(n).
class Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<Header> list) : fields_(list) {}

  /// The first value under `name`, or nullptr. Valid until the list is changed.
  const std::string* find(std::string_view name) const;
  /// The first value under `name`, or an empty view.
  std::string_view get(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }
  std::size_t count(std::string_view name) const;

  /// Replaces the first header of that name in its place, drops further ones; appends where there was none.
  void set(std::string_view name, std::string_view value);
  void add(std::string_view name, std::string_view value);
  /// Drops every header of that name.
  void remove(std::string_view name);

  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }
  std::size_t size() const { return fields_.size(); }
  bool empty() const { return fields_.empty(); }
  void clear() { fields_.clear(); }
  bool operator==(const Headers&) const = default;

 private:
  std::vector<Header> fields_;
};

struct RequestHead {
  std::string method;
  std::string target;  // "/path?query", or "*"; whatever else stood on the request line as it was
  Headers headers;
  int minor_version = 1;   // HTTP/1.minor_version
  bool keep_alive = true;  // what version and Connection header say together
};

struct ResponseHead {
  int status = 200;
  std::string reason;  // empty: the usual phrase of the status is written
  Headers headers;
};

/// Removes what concerns one connection only (RFC 9110 § 7.6.1): Connection and every header that it names,
/// Keep-Alive, Proxy-Connection, Proxy-Authenticate, Proxy-Authorization, TE, Trailer, Transfer-Encoding, Upgrade.
void remove_hop_by_hop(Headers& headers);

/// The usual reason phrase of a status, or an empty view.
std::string_view reason_phrase(int status);

}  // namespace tidemark::http
