// Streams as JSON, and back.
#include "native/proxy/stream_facts.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "native/proxy/principal.hpp"

namespace tidemark::proxy {
namespace {

using nlohmann::json;

constexpr int kVersion = 1;

// What is kept of a request, since it says what is asked for: a credential can be in any other header, or in any other
// part of the query.
constexpr std::array<std::string_view, 14> kKeptHeaders{"accept",
                                                        "anthropic-beta",
                                                        "anthropic-version",
                                                        "content-type",
                                                        "host",
                                                        "idempotency-key",
                                                        "openai-beta",
                                                        "openai-organization",
                                                        "openai-project",
                                                        "user-agent",
                                                        "x-goog-api-client",
                                                        "x-goog-request-params",
                                                        "x-goog-user-project",
                                                        "x-simulate"};
constexpr std::array<std::string_view, 3> kKeptQuery{"alt", "api-version", "beta"};
constexpr std::array<std::string_view, 2> kSecretOfResponses{"set-cookie", "proxy-authenticate"};

bool is_one_of(std::string_view name, const std::string_view* begin, const std::string_view* end) {
  return std::any_of(begin, end, [name](std::string_view one) { return http::equal_names(name, one); });
}

/// A request whose target shows more (Gemini's ?key=) can't be left behind without it.
bool may_be_kept(std::string_view target) {
  std::string_view query = target.substr(std::min(target.find('?'), target.size()));
  while (!query.empty()) {
    query.remove_prefix(1);
    const std::string_view one = query.substr(0, query.find('&'));
    query.remove_prefix(one.size());
    if (!one.empty() && !is_one_of(one.substr(0, one.find('=')), kKeptQuery.begin(), kKeptQuery.end())) return false;
  }
  return true;
}

json headers_of(const http::Headers& headers) {
  json list = json::array();
  for (const http::Header& header : headers) {
    if (is_one_of(header.name, kSecretOfResponses.begin(), kSecretOfResponses.end())) continue;
    list.push_back({header.name, header.value});
  }
  return list;
}

json request_headers_of(const http::Headers& headers, std::string_view principal_header) {
  json list = json::array();
  for (const http::Header& header : headers) {
    if (http::equal_names(header.name, principal_header)) continue;
    if (is_one_of(header.name, kKeptHeaders.begin(), kKeptHeaders.end())) list.push_back({header.name, header.value});
  }
  return list;
}

http::Headers headers_from(const json& list) {
  http::Headers headers;
  for (const json& header : list) headers.add(header.at(0).get<std::string>(), header.at(1).get<std::string>());
  return headers;
}

// Bytes that are no UTF-8 (a body may hold any) would be no JSON.
json bytes_of(std::string_view bytes) { return json::binary(std::vector<std::uint8_t>(bytes.begin(), bytes.end())); }
std::string bytes_from(const json& value) {
  const json::binary_t& bytes = value.get_binary();
  return {bytes.begin(), bytes.end()};
}

json request_of(const RunRequest& request, std::string_view principal_header) {
  return {{"method", request.head.method},
          {"target", request.head.target},
          {"headers", request_headers_of(request.head.headers, principal_header)},
          {"body", bytes_of(request.body)},
          {"expects_stream", request.expects_stream},
          {"resumable", request.resumable}};
}

json seams_of(const std::vector<Seam>& seams) {
  json list = json::array();
  for (const Seam& seam : seams) {
    list.push_back({{"attempt", seam.attempt},
                    {"form", seam::name(seam.form)},
                    {"at", seam.at},
                    {"trimmed", seam.trimmed},
                    {"verdict", seam.verdict}});
  }
  return list;
}

std::vector<Seam> seams_from(const json& list) {
  std::vector<Seam> seams;
  for (const json& seam : list) {
    const auto form = seam::form_from_name(seam.at("form").get<std::string>());
    if (!form) continue;
    seams.push_back({seam.at("attempt"), *form, seam.at("at"), seam.at("trimmed"), seam.at("verdict")});
  }
  return seams;
}

RunRequest request_from(const json& facts) {
  RunRequest request;
  request.head.method = facts.at("method");
  request.head.target = facts.at("target");
  request.head.headers = headers_from(facts.at("headers"));
  request.body = bytes_from(facts.at("body"));
  request.expects_stream = facts.at("expects_stream");
  request.resumable = facts.at("resumable");
  request.dialect = dialect::from_path(request.head.target);
  return request;
}

}  // namespace

std::string to_facts(const Stream& stream, const RunRequest* request, std::string_view principal_header) {
  json facts{
      {"version", kVersion},
      {"principal", stream.principal},
      {"id", stream.id},
      {"epoch", stream.epoch()},
      {"request_digest", bytes_of({reinterpret_cast<const char*>(stream.request.data()), stream.request.size()})},
      {"dialect", dialect::name(stream.dialect)},
      {"headers", headers_of(stream.headers)},
      {"may_linger", stream.may_linger},
      {"attempts", stream.attempts},
      {"seams", seams_of(stream.seams)},
      {"created", stream.created_unix_ms}};
  if (stream.end) {
    facts["end"] = {{"state", session::name(stream.end->state)},
                    {"reason", session::name(stream.end->reason)},
                    {"at", stream.end->at_unix_ms}};
  } else if (request != nullptr && may_be_kept(request->head.target)) {
    facts["request"] = request_of(*request, principal_header);
  }
  const std::vector<std::uint8_t> bytes = json::to_cbor(facts);
  return {bytes.begin(), bytes.end()};
}

std::shared_ptr<Stream> from_facts(std::string_view bytes) {
  try {
    const json facts = json::from_cbor(bytes);
    if (facts.at("version") != kVersion) return nullptr;
    auto stream = std::make_shared<Stream>();
    stream->principal = facts.at("principal");
    stream->id = facts.at("id");
    stream->terms.push_back({facts.at("epoch"), 0});
    const std::string digest = bytes_from(facts.at("request_digest"));
    const auto dialect = dialect::from_name(facts.at("dialect").get<std::string>());
    if (digest.size() != stream->request.size() || !dialect) return nullptr;
    std::copy(digest.begin(), digest.end(), stream->request.begin());
    stream->dialect = *dialect;
    stream->headers = headers_from(facts.at("headers"));
    stream->may_linger = facts.at("may_linger");
    stream->attempts = facts.at("attempts");
    if (facts.contains("seams")) stream->seams = seams_from(facts.at("seams"));
    stream->created_unix_ms = facts.at("created");
    if (facts.contains("end")) {
      const json& end = facts.at("end");
      const auto state = session::end_state_from_name(end.at("state").get<std::string>());
      const auto reason = session::end_reason_from_name(end.at("reason").get<std::string>());
      if (!state || !reason) return nullptr;
      stream->end = StreamEnd{*state, *reason, end.at("at")};
    } else {
      stream->left = std::make_unique<RunRequest>();
      if (facts.contains("request")) *stream->left = request_from(facts.at("request"));
    }
    return stream;
  } catch (const json::exception&) {
    return nullptr;
  }
}

void lend_credentials(RunRequest& request, const http::Headers& from, const std::vector<std::string>& client_tokens) {
  std::string_view token_in;
  if (shows_token(from, client_tokens, token_in)) request.token_in = token_in;
  for (const http::Header& header : from) {
    if (is_credential_header(header.name)) request.head.headers.set(header.name, header.value);
  }
}

}  // namespace tidemark::proxy
