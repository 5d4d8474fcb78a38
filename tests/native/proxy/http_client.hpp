// A blocking HTTP/1.1 client for tests: small, strict about what it reads, and independent of the program's own codecs.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "native/http/message.hpp"

namespace tidemark::test {

struct Reply {
  int status = 0;
  http::Headers headers;
  std::string body;
  bool complete = false;  // the body ended as its framing says
};

class HttpClient {
 public:
  explicit HttpClient(std::uint16_t port, int receive_buffer = 0) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int one = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (receive_buffer > 0) ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    // The socket API takes all kinds of addresses under one type.
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      throw std::runtime_error("cannot connect");
    }
  }
  ~HttpClient() { close(); }
  HttpClient(HttpClient&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)),
        buffer_(std::move(other.buffer_)),
        left_(other.left_),
        kind_(other.kind_) {}
  HttpClient& operator=(HttpClient&&) = delete;

  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }
  /// Closes with a RST.
  void reset() {
    const linger hard{1, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    close();
  }
  void finish_sending() { ::shutdown(socket_, SHUT_WR); }

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  void request(const std::string& method, const std::string& target, const http::Headers& headers = {},
               const std::string& body = {}) {
    std::string text = method + " " + target + " HTTP/1.1\r\nHost: proxy.test\r\n";
    for (const auto& header : headers) text += header.name + ": " + header.value + "\r\n";
    if (method == "POST" || !body.empty()) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    send(text + "\r\n" + body);
  }

  /// The head of the next response; status 0 where the connection ended instead.
  Reply read_head() {
    Reply reply;
    std::size_t end = 0;
    while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
      if (!fill()) return reply;
    }
    const std::string head = buffer_.substr(0, end + 2);
    buffer_.erase(0, end + 4);
    reply.status = std::atoi(head.c_str() + 9);
    for (std::size_t at = head.find("\r\n") + 2; at < head.size();) {
      const std::size_t stop = head.find("\r\n", at);
      const std::size_t colon = head.find(": ", at);
      reply.headers.add(head.substr(at, colon - at), head.substr(colon + 2, stop - colon - 2));
      at = stop + 2;
    }
    kind_ = reply.headers.get("transfer-encoding") == "chunked" ? Kind::Chunked
            : reply.headers.has("content-length")               ? Kind::Length
                                                                : Kind::UntilClose;
    left_ = kind_ == Kind::Length ? std::stoul(std::string(reply.headers.get("content-length"))) : 0;
    if (reply.status == 204 || reply.status == 304) {
      kind_ = Kind::Length;
      left_ = 0;
    }
    return reply;
  }

  /// Some more of the body, at most `most`; empty at its end (`complete` says whether it was a proper one).
  std::string read_some(std::size_t most, bool& complete) {
    complete = false;
    if (left_ == 0) {
      if (kind_ == Kind::Length) {
        complete = true;
        return {};
      }
      if (kind_ == Kind::Chunked) {
        std::size_t end = 0;
        while ((end = buffer_.find("\r\n")) == std::string::npos) {
          if (!fill()) return {};
        }
        left_ = std::stoul(buffer_.substr(0, end), nullptr, 16);
        buffer_.erase(0, end + 2);
        if (left_ == 0) {
          while (buffer_.size() < 2) {
            if (!fill()) return {};
          }
          buffer_.erase(0, 2);
          complete = true;
          kind_ = Kind::Length;
          return {};
        }
      } else {
        left_ = static_cast<std::size_t>(-1);
      }
    }
    if (buffer_.empty() && !fill()) {
      complete = kind_ == Kind::UntilClose;
      return {};
    }
    const std::size_t count = std::min({most, left_, buffer_.size()});
    std::string out = buffer_.substr(0, count);
    buffer_.erase(0, count);
    left_ -= count;
    if (kind_ == Kind::Chunked && left_ == 0) {
      while (buffer_.size() < 2) {
        if (!fill()) return out;
      }
      buffer_.erase(0, 2);
    }
    return out;
  }
  /// Exactly `count` bytes of the body, or less at its end.
  std::string read_bytes(std::size_t count) {
    std::string out;
    bool complete = false;
    while (out.size() < count) {
      const std::string more = read_some(count - out.size(), complete);
      if (more.empty()) break;
      out += more;
    }
    return out;
  }
  void read_body(Reply& reply) {
    for (;;) {
      const std::string more = read_some(static_cast<std::size_t>(-1), reply.complete);
      if (more.empty()) return;
      reply.body += more;
    }
  }
  Reply read_reply() {
    Reply reply = read_head();
    if (reply.status != 0) read_body(reply);
    return reply;
  }
  Reply ask(const std::string& method, const std::string& target, const http::Headers& headers = {},
            const std::string& body = {}) {
    request(method, target, headers, body);
    return read_reply();
  }

 private:
  enum class Kind { Length, Chunked, UntilClose };

  bool fill() {
    pollfd waiting{socket_, POLLIN, 0};
    // A test that hangs says so instead.
    if (::poll(&waiting, 1, 20000) <= 0) throw std::runtime_error("nothing came for 20 seconds");
    char bytes[65536];
    const ssize_t count = ::recv(socket_, bytes, sizeof bytes, 0);
    if (count <= 0) return false;
    buffer_.append(bytes, static_cast<std::size_t>(count));
    return true;
  }

  int socket_;
  std::string buffer_;
  std::size_t left_ = 0;  // of the body, or of its chunk
  Kind kind_ = Kind::Length;
};

}  // namespace tidemark::test
