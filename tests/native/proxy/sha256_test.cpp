// SHA-256 against the examples of FIPS 180-4 and of NIST's test vectors.
#include "native/proxy/sha256.hpp"

#include "tests/catch.hpp"

using namespace tidemark::proxy;

TEST_CASE("known digests") {
  CHECK(to_hex(sha256("")) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(to_hex(sha256("abc")) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(to_hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")) ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(to_hex(sha256(std::string(1000000, 'a'))) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("the digest does not depend on how the bytes are cut") {
  for (std::size_t length = 0; length < 140; ++length) {
    const std::string text(length, 'x');
    Sha256 pieces;
    for (const char c : text) pieces.update(std::string_view(&c, 1));
    CHECK(pieces.finish() == sha256(text));
  }
}
