// Replies out of bytes, by hiredis' reader: it calls the functions below, which make ours.
#include "native/redis/reply_reader.hpp"

#include <read.h>

#include <cstddef>
#include <new>
#include <string>
#include <utility>

namespace tidemark::redis {
namespace {

// As deep as hiredis 0.14 goes.
constexpr int kMaxDepth = 8;
constexpr const char* kNewerType = "a reply of a type that RESP2 does not have";

// What the functions below make: the reply as far as it has been read.
struct Building {
  // What the functions return for what is not taken: hiredis then ends with an error of its own.
  std::nullptr_t refuse(std::string why) {
    refusal = std::move(why);
    return nullptr;
  }

  // A place for what the task reads, or null where the reply gets too large. The places of arrays that are not complete
  // are stable: each is the last of its parent's, and nothing is put behind it before it is complete.
  Reply* place(const redisReadTask* task, std::size_t text_bytes) {
    bytes += sizeof(Reply) + text_bytes;
    if (bytes > max_bytes) return refuse(too_large());
    if (task->parent == nullptr) {
      root = Reply{};
      return &root;
    }
    return &static_cast<Reply*>(task->parent->obj)->items.emplace_back();
  }

  std::string too_large() const { return "a reply of more than " + std::to_string(max_bytes) + " bytes"; }

  std::size_t max_bytes;
  Reply root;
  std::size_t bytes = 0;  // of the root and what is in it
  std::string refusal;
};

Building& building(const redisReadTask* task) { return *static_cast<Building*>(task->privdata); }

void* make_text(const redisReadTask* task, char* text, std::size_t size) {
  Reply::Kind kind = Reply::Kind::Text;
  switch (task->type) {
    case REDIS_REPLY_STRING:
      break;
    case REDIS_REPLY_STATUS:
      kind = Reply::Kind::Status;
      break;
    case REDIS_REPLY_ERROR:
      kind = Reply::Kind::Error;
      break;
    default:
      return building(task).refuse(kNewerType);
  }
  Reply* const reply = building(task).place(task, size);
  if (reply == nullptr) return nullptr;
  reply->kind = kind;
  reply->text.assign(text, size);
  return reply;
}

// The count is an int in hiredis 0.14 and a size_t from 1.0 on. It is what the server announces: nothing is reserved.
template <class Count>
void* make_array(const redisReadTask* task, Count) {
  if (task->type != REDIS_REPLY_ARRAY) return building(task).refuse(kNewerType);
  int depth = 1;
  for (const redisReadTask* above = task->parent; above != nullptr; above = above->parent) ++depth;
  if (depth > kMaxDepth) return building(task).refuse("a reply of arrays in arrays that go too deep");
  Reply* const reply = building(task).place(task, 0);
  if (reply != nullptr) reply->kind = Reply::Kind::Array;
  return reply;
}

void* make_integer(const redisReadTask* task, long long value) {
  Reply* const reply = building(task).place(task, 0);
  if (reply == nullptr) return nullptr;
  reply->kind = Reply::Kind::Integer;
  reply->integer = value;
  return reply;
}

void* make_null(const redisReadTask* task) { return building(task).place(task, 0); }

void keep(void*) {}  // what was made belongs to Building

// What only RESP3 has, and hiredis from 1.0 on.
template <class Functions>
void refuse_newer_types(Functions& functions) {
  if constexpr (requires { functions.createDouble; }) {
    functions.createDouble = [](const redisReadTask* task, double, char*, std::size_t) -> void* {
      return building(task).refuse(kNewerType);
    };
    functions.createBool = [](const redisReadTask* task, int) -> void* { return building(task).refuse(kNewerType); };
  }
}

redisReplyObjectFunctions make_functions() {
  redisReplyObjectFunctions functions{};
  functions.createString = make_text;
  functions.createArray = make_array;
  functions.createInteger = make_integer;
  functions.createNil = make_null;
  functions.freeObject = keep;
  refuse_newer_types(functions);
  return functions;
}

}  // namespace

struct ReplyReader::Impl {
  explicit Impl(std::size_t max_reply_bytes) : under_way{max_reply_bytes, {}, 0, {}} {
    if (reader == nullptr) throw std::bad_alloc();
    reader->privdata = &under_way;
  }

  redisReplyObjectFunctions functions = make_functions();
  Building under_way;
  std::unique_ptr<redisReader, void (*)(redisReader*)> reader{redisReaderCreateWithFunctions(&functions),
                                                              redisReaderFree};
};

ReplyReader::ReplyReader(std::size_t max_reply_bytes) : impl_(std::make_unique<Impl>(max_reply_bytes)) {}
ReplyReader::~ReplyReader() = default;

void ReplyReader::feed(std::string_view bytes) {
  if (error_.empty()) redisReaderFeed(impl_->reader.get(), bytes.data(), bytes.size());
}

ReplyReader::Got ReplyReader::next(Reply& out) {
  if (!error_.empty()) return Got::Failed;
  redisReader* const reader = impl_->reader.get();
  Building& under_way = impl_->under_way;
  void* made = nullptr;
  const bool understood = redisReaderGetReply(reader, &made) == REDIS_OK;
  if (!under_way.refusal.empty()) return fail(under_way.refusal);
  if (!understood) return fail(std::string("not the Redis protocol: ") + reader->errstr);
  if (made == nullptr && under_way.bytes + (reader->len - reader->pos) > under_way.max_bytes) {
    return fail(under_way.too_large());
  }
  if (made == nullptr) return Got::Nothing;
  out = std::exchange(under_way.root, {});
  under_way.bytes = 0;
  return Got::Reply;
}

ReplyReader::Got ReplyReader::fail(std::string why) {
  error_ = std::move(why);
  return Got::Failed;
}

}  // namespace tidemark::redis
