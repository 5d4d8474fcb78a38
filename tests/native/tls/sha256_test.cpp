// SHA-256 against the examples of FIPS 180-4 and of NIST's test vectors.
#include "native/tls/sha256.hpp"

#include "tests/catch.hpp"

using namespace tidemark::tls;

TEST_CASE("known digests", "[sha256]") {
  CHECK(to_hex(sha256("")) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(to_hex(sha256("abc")) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(to_hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")) ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(to_hex(sha256(std::string(1000000, 'a'))) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("parts are digested as one text", "[sha256]") { CHECK(sha256({"a", "", "bc"}) == sha256("abc")); }
