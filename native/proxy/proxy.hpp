// The proxy's front door: says for each request what it is, and hands it to the part that answers it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "native/downstream/server.hpp"
#include "native/proxy/administration.hpp"
#include "native/proxy/context.hpp"
#include "native/proxy/streams.hpp"

namespace tidemark::proxy {

class Proxy final : public downstream::Handler {
 public:
  Proxy(Context& context, Streams& streams) : context_(context), streams_(streams), administration_(context, streams) {}

  void handle(std::shared_ptr<downstream::Exchange> exchange) override;

 private:
  void forward(const std::shared_ptr<downstream::Exchange>& exchange, std::string_view token_in);

  Context& context_;
  Streams& streams_;
  Administration administration_;
};

}  // namespace tidemark::proxy
