// TLS against a server with certificates of a test authority, which the openssl program makes.
#include <openssl/ssl.h>

#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "native/loop/socket.hpp"
#include "native/tls/context.hpp"
#include "tests/catch.hpp"
#include "tests/native/loop/raw_socket.hpp"
#include "tests/native/loop/run_until.hpp"
#include "tests/native/tls/certificates.hpp"

using namespace tidemark;
using tidemark::loop::IoStatus;
using tidemark::testing::Certificates;
using tidemark::testing::RawListener;
using tidemark::testing::RawSocket;
using tidemark::testing::run_until;

namespace {

// A blocking TLS server for one connection, on a thread of its own.
class TlsServer {
 public:
  explicit TlsServer(const std::string& certificate, bool says_goodbye = true)
      : thread_([this, certificate, says_goodbye] { serve(certificate, says_goodbye); }) {}
  ~TlsServer() { thread_.join(); }

  std::uint16_t port() const { return listener_.port(); }
  std::string server_name() { return name_.get_future().get(); }

 private:
  // Sends back what it got, a megabyte, then ends.
  void serve(const std::string& certificate, bool says_goodbye) {
    const Certificates& files = Certificates::get();
    const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
    SSL_CTX_use_certificate_file(context.get(), files.path(certificate + ".pem").c_str(), SSL_FILETYPE_PEM);
    SSL_CTX_use_PrivateKey_file(context.get(), files.path(certificate + ".key").c_str(), SSL_FILETYPE_PEM);
    const RawSocket socket = listener_.accept();
    const std::unique_ptr<SSL, void (*)(SSL*)> ssl(SSL_new(context.get()), SSL_free);
    SSL_set_fd(ssl.get(), socket.fd());
    const bool accepted = SSL_accept(ssl.get()) == 1;
    const char* name = SSL_get_servername(ssl.get(), TLSEXT_NAMETYPE_host_name);
    name_.set_value(name != nullptr ? name : "");
    if (!accepted) return;
    std::string got;
    char buffer[16384];
    while (got.size() < kSize) {
      const int count = SSL_read(ssl.get(), buffer, sizeof buffer);
      if (count <= 0) return;
      got.append(buffer, static_cast<std::size_t>(count));
    }
    SSL_write(ssl.get(), got.data(), static_cast<int>(got.size()));
    if (says_goodbye) SSL_shutdown(ssl.get());
  }

 public:
  static constexpr std::size_t kSize = 1 << 20;

 private:
  RawListener listener_;
  std::promise<std::string> name_;
  std::thread thread_;
};

// What the client's handshake comes to: an error, or nothing and the transport.
struct Client {
  explicit Client(const std::string& authority) {
    ::setenv("SSL_CERT_FILE", Certificates::get().path(authority).c_str(), 1);
    context = std::make_unique<tls::ClientContext>();
  }

  std::string connect(std::uint16_t port, const std::string& name) {
    bool done = false;
    std::string outcome;
    loop::Connecting connecting(loop, "127.0.0.1", port, [&](std::unique_ptr<loop::Socket> socket, bool, const auto&) {
      REQUIRE(socket);
      transport = context->connect(std::move(socket), name);
      transport->handshake([&](const std::string& error) {
        outcome = error;
        done = true;
      });
    });
    REQUIRE(run_until(loop, [&] { return done; }));
    return outcome;
  }

  // Sends `text`, collects what comes until it ends in one way or the other.
  IoStatus talk(const std::string& text, std::string& received) {
    std::size_t sent = 0;
    IoStatus ended = IoStatus::WouldBlock;
    std::function<void()> write = [&] {
      while (sent < text.size()) {
        const auto result = transport->write(std::string_view(text).substr(sent));
        if (result.status != IoStatus::Done) return transport->wait_writable(write);
        sent += result.bytes;
      }
    };
    std::function<void()> read = [&] {
      // Small reads: what OpenSSL still holds must make the transport readable again.
      const auto result = transport->read(loop.read_buffer(), 1000);
      if (result.status == IoStatus::Done) received.append(loop.read_buffer(), result.bytes);
      if (result.status == IoStatus::Eof || result.status == IoStatus::Failed) {
        ended = result.status;
      } else {
        transport->wait_readable(read);
      }
    };
    transport->wait_readable(read);
    write();
    REQUIRE(run_until(loop, [&] { return ended != IoStatus::WouldBlock; }));
    return ended;
  }

  loop::Loop loop;
  std::unique_ptr<tls::ClientContext> context;
  std::unique_ptr<tls::Transport> transport;
};

}  // namespace

TEST_CASE("a trusted certificate for the right name, and a megabyte each way") {
  TlsServer server("good");
  Client client("ca.pem");
  REQUIRE(client.connect(server.port(), "localhost") == "");
  CHECK(server.server_name() == "localhost");
  std::string text(TlsServer::kSize, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 31 / 7);
  std::string received;
  CHECK(client.talk(text, received) == IoStatus::Eof);
  CHECK(received == text);
  client.transport->close();
}

TEST_CASE("an address is verified too, and not sent as a name") {
  TlsServer server("good");
  Client client("ca.pem");
  CHECK(client.connect(server.port(), "127.0.0.1") == "");
  CHECK(server.server_name() == "");
  client.transport->reset();
}

TEST_CASE("a certificate for another name is refused") {
  TlsServer server("good");
  Client client("ca.pem");
  CHECK(client.connect(server.port(), "example.com") == "certificate refused: hostname mismatch");
  client.transport->close();
}

TEST_CASE("a certificate for another address is refused") {
  TlsServer server("good");
  Client client("ca.pem");
  CHECK(client.connect(server.port(), "127.0.0.2") == "certificate refused: IP address mismatch");
  client.transport->close();
}

TEST_CASE("a certificate that nobody trusted signed is refused") {
  TlsServer server("own");
  Client client("ca.pem");
  CHECK(client.connect(server.port(), "localhost").find("certificate refused: self") == 0);
  client.transport->close();
}

TEST_CASE("what waits for bytes that are there already is not called once the connection is closed") {
  TlsServer server("good", false);
  Client client("ca.pem");
  REQUIRE(client.connect(server.port(), "localhost") == "");
  const std::string text(TlsServer::kSize, 'x');
  std::string received;
  bool called = false;
  std::function<void()> read = [&] {
    const auto result = client.transport->read(client.loop.read_buffer(), 1000);
    if (result.status != IoStatus::Done) return client.transport->wait_readable(read);
    // The rest of the record is with OpenSSL.
    client.transport->wait_readable([&] { called = true; });
    client.transport->reset();
    received = "some";
  };
  std::size_t sent = 0;
  std::function<void()> write = [&] {
    while (sent < text.size()) {
      const auto result = client.transport->write(std::string_view(text).substr(sent));
      if (result.status != IoStatus::Done) return client.transport->wait_writable(write);
      sent += result.bytes;
    }
  };
  client.transport->wait_readable(read);
  write();
  REQUIRE(run_until(client.loop, [&] { return !received.empty(); }));
  tidemark::testing::run_ready(client.loop);
  CHECK_FALSE(called);
}

TEST_CASE("a connection that ends without its closing alert has failed") {
  TlsServer server("good", false);
  Client client("ca.pem");
  REQUIRE(client.connect(server.port(), "localhost") == "");
  const std::string text(TlsServer::kSize, 'x');
  std::string received;
  CHECK(client.talk(text, received) == IoStatus::Failed);
  CHECK(received == text);
}

TEST_CASE("a peer that speaks no TLS") {
  RawListener listener;
  std::thread peer([&] {
    RawSocket socket = listener.accept();
    socket.send("HTTP/1.1 400 Bad Request\r\n\r\n");
    socket.shutdown_send();
    socket.receive_all();
  });
  Client client("ca.pem");
  CHECK(client.connect(listener.port(), "localhost") == "wrong version number");
  client.transport.reset();
  peer.join();
}
