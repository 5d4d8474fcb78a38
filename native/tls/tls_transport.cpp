// TLS over a non-blocking socket.
#include "native/tls/tls_transport.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace tidemark::tls {

struct SocketBio {
  static TlsTransport& owner(BIO* bio) { return *static_cast<TlsTransport*>(BIO_get_data(bio)); }

  static int write(BIO* bio, const char* bytes, std::size_t size, std::size_t* written) {
    BIO_clear_retry_flags(bio);
    loop::IoResult result = owner(bio).socket_->write({bytes, size});
    *written = result.bytes;
    if (result.status == loop::IoStatus::Done) return 1;
    if (result.status == loop::IoStatus::WouldBlock) BIO_set_retry_write(bio);
    owner(bio).socket_error_ = std::move(result.error);
    return 0;
  }

  static int read(BIO* bio, char* into, std::size_t size, std::size_t* got) {
    BIO_clear_retry_flags(bio);
    loop::IoResult result = owner(bio).socket_->read(into, size);
    *got = result.bytes;
    if (result.status == loop::IoStatus::Done) return 1;
    if (result.status == loop::IoStatus::WouldBlock) BIO_set_retry_read(bio);
    if (result.status == loop::IoStatus::Eof) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
    owner(bio).socket_error_ = std::move(result.error);
    return 0;
  }

  static long control(BIO* bio, int command, long, void*) {
    if (command == BIO_CTRL_FLUSH) return 1;
    if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
    return 0;
  }

  static const BIO_METHOD* method() {
    static const std::unique_ptr<BIO_METHOD, void (*)(BIO_METHOD*)> kMethod = [] {
      BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "loop socket");
      BIO_meth_set_write_ex(made, write);
      BIO_meth_set_read_ex(made, read);
      BIO_meth_set_ctrl(made, control);
      return std::unique_ptr<BIO_METHOD, void (*)(BIO_METHOD*)>(made, BIO_meth_free);
    }();
    return kMethod.get();
  }
};

TlsTransport::TlsTransport(SSL* ssl, std::unique_ptr<loop::Socket> socket) : ssl_(ssl), socket_(std::move(socket)) {
  BIO* bio = BIO_new(SocketBio::method());
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_, bio, bio);
  SSL_set_connect_state(ssl_);
}

TlsTransport::~TlsTransport() { SSL_free(ssl_); }

void TlsTransport::handshake(std::function<void(const std::string& error)> done) {
  shaken_ = std::move(done);
  socket_->loop().defer([this, alive = std::weak_ptr<char>(alive_)] {
    if (!alive.expired()) shake();
  });
}

void TlsTransport::shake() {
  ERR_clear_error();
  const int returned = SSL_do_handshake(ssl_);
  const int error = returned == 1 ? SSL_ERROR_NONE : SSL_get_error(ssl_, returned);
  switch (error) {
    case SSL_ERROR_WANT_READ:
      return socket_->wait_readable([this] { shake(); });
    case SSL_ERROR_WANT_WRITE:
      return socket_->wait_writable([this] { shake(); });
    default:
      break;
  }
  const auto done = std::exchange(shaken_, nullptr);
  done(error == SSL_ERROR_NONE ? std::string() : reason(error));
}

std::string TlsTransport::reason(int ssl_error) const {
  const long verified = SSL_get_verify_result(ssl_);
  if (verified != X509_V_OK) return std::string("certificate refused: ") + X509_verify_cert_error_string(verified);
  if (ssl_error == SSL_ERROR_SSL) {
    const char* text = ERR_reason_error_string(ERR_peek_last_error());
    return text != nullptr ? text : "TLS failed";
  }
  return socket_error_.empty() ? "the connection ended without its closing alert" : socket_error_;
}

loop::IoResult TlsTransport::result_of(int returned, Wait& wait) {
  const int error = SSL_get_error(ssl_, returned);
  switch (error) {
    case SSL_ERROR_WANT_READ:
      wait.needs = Needs::Readable;
      return {loop::IoStatus::WouldBlock, 0, {}};
    case SSL_ERROR_WANT_WRITE:
      wait.needs = Needs::Writable;
      return {loop::IoStatus::WouldBlock, 0, {}};
    case SSL_ERROR_ZERO_RETURN:
      return {loop::IoStatus::Eof, 0, {}};
    default:
      return {loop::IoStatus::Failed, 0, reason(error)};
  }
}

loop::IoResult TlsTransport::read(char* into, std::size_t size) {
  ERR_clear_error();
  reading_.needs = Needs::Readable;
  std::size_t got = 0;
  const int returned = SSL_read_ex(ssl_, into, size, &got);
  if (returned == 1) return {loop::IoStatus::Done, got, {}};
  return result_of(returned, reading_);
}

loop::IoResult TlsTransport::write(std::string_view bytes) {
  ERR_clear_error();
  writing_.needs = Needs::Writable;
  std::size_t written = 0;
  const int returned = SSL_write_ex(ssl_, bytes.data(), bytes.size(), &written);
  if (returned == 1) return {loop::IoStatus::Done, written, {}};
  return result_of(returned, writing_);
}

void TlsTransport::wait_readable(std::function<void()> ready) {
  reading_.ready = std::move(ready);
  // Bytes that OpenSSL holds already make no socket readable.
  if (SSL_pending(ssl_) > 0) {
    socket_->loop().defer([this, alive = std::weak_ptr<char>(alive_)] {
      if (alive.expired()) return;
      const auto call = std::exchange(reading_.ready, nullptr);
      if (call) call();
    });
    return;
  }
  arm();
}

void TlsTransport::wait_writable(std::function<void()> ready) {
  writing_.ready = std::move(ready);
  arm();
}

void TlsTransport::arm() {
  const auto needed = [this](Needs which) {
    return (reading_.ready && reading_.needs == which) || (writing_.ready && writing_.needs == which);
  };
  if (needed(Needs::Readable)) socket_->wait_readable([this] { became_ready(Needs::Readable); });
  if (needed(Needs::Writable)) socket_->wait_writable([this] { became_ready(Needs::Writable); });
}

void TlsTransport::became_ready(Needs which) {
  const std::weak_ptr<char> alive = alive_;
  for (Wait* wait : {&reading_, &writing_}) {
    if (alive.expired()) return;
    if (!wait->ready || wait->needs != which) continue;
    const auto call = std::exchange(wait->ready, nullptr);
    call();
  }
}

void TlsTransport::drop_waits() {
  for (Wait* wait : {&reading_, &writing_}) {
    // A callback may hold what is being closed: it ends with the turn.
    if (wait->ready) {
      socket_->loop().retire(std::make_shared<std::function<void()>>(std::exchange(wait->ready, nullptr)));
    }
  }
}

void TlsTransport::close() {
  drop_waits();
  if (socket_->is_open() && SSL_is_init_finished(ssl_) == 1) {
    ERR_clear_error();
    SSL_shutdown(ssl_);  // sends the alert where it fits; the peer's is not waited for
  }
  socket_->close();
}

void TlsTransport::reset() {
  drop_waits();
  socket_->reset();
}

}  // namespace tidemark::tls
