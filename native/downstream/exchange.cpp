// What a handler's exchange does to its connection.
#include <utility>

#include "native/downstream/connection.hpp"

namespace tidemark::downstream {

ConnectionExchange::ConnectionExchange(Connection& connection, http::RequestHead head, std::string body)
    : connection_(&connection), head_(std::move(head)), body_(std::move(body)) {}

ConnectionExchange::~ConnectionExchange() {
  if (connection_ != nullptr) connection_->close(true);
}

std::string ConnectionExchange::peer() const {
  return connection_ != nullptr ? connection_->socket_->peer_address() : std::string();
}

bool ConnectionExchange::begin_answer() {
  if (connection_ == nullptr || answered_) return false;
  answered_ = true;
  finished_sending_ = nullptr;
  head_ = {};
  std::string().swap(body_);
  connection_->kept_exchange_ = shared_from_this();
  return true;
}

void ConnectionExchange::respond(http::ResponseHead head, std::string body) {
  if (begin_answer()) connection_->respond(std::move(head), body);
}

void ConnectionExchange::respond(http::ResponseHead head, std::unique_ptr<BodySource> source) {
  if (begin_answer()) connection_->respond(std::move(head), std::move(source));
}

void ConnectionExchange::wake() {
  if (connection_ != nullptr && answered_) connection_->schedule_pump();
}

std::size_t ConnectionExchange::unsent() const { return connection_ != nullptr ? connection_->unsent() : 0; }

void ConnectionExchange::reset() {
  if (connection_ != nullptr) connection_->close(true);
}

void ConnectionExchange::on_closed(std::function<void()> gone) {
  if (connection_ != nullptr) gone_ = std::move(gone);
}

void ConnectionExchange::on_finished_sending(std::function<void()> finished) {
  if (connection_ != nullptr) finished_sending_ = std::move(finished);
}

}  // namespace tidemark::downstream
