// The trusted roots and what every connection must agree to.
#include "native/tls/context.hpp"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <new>
#include <utility>

#include "native/tls/tls_transport.hpp"

namespace tidemark::tls {

struct ClientContext::Impl {
  std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context{SSL_CTX_new(TLS_client_method()), SSL_CTX_free};
};

ClientContext::ClientContext(Speaks speaks) : impl_(std::make_unique<Impl>()) {
  SSL_CTX* const context = impl_->context.get();
  if (context == nullptr) throw std::bad_alloc();
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_default_verify_paths(context);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  // A write that took part of its bytes is repeated from wherever the rest lies by then.
  SSL_CTX_set_mode(context,
                   SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  if (speaks != Speaks::Http) return;
  constexpr unsigned char kHttp1[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  SSL_CTX_set_alpn_protos(context, kHttp1, sizeof kHttp1);
}

ClientContext::~ClientContext() = default;

std::unique_ptr<Transport> ClientContext::connect(std::unique_ptr<loop::Socket> socket, const std::string& host) {
  SSL* const ssl = SSL_new(impl_->context.get());
  if (ssl == nullptr) throw std::bad_alloc();
  X509_VERIFY_PARAM* const wanted = SSL_get0_param(ssl);
  X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if (X509_VERIFY_PARAM_set1_ip_asc(wanted, host.c_str()) != 1) {
    X509_VERIFY_PARAM_set1_host(wanted, host.data(), host.size());
    // What SSL_set_tlsext_host_name stands for, without its old-style cast.
    SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, const_cast<char*>(host.c_str()));
  }
  return std::make_unique<TlsTransport>(ssl, std::move(socket));
}

}  // namespace tidemark::tls
