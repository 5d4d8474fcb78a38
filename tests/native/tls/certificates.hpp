// Certificates for tests, which the openssl program makes.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/catch.hpp"

namespace tidemark::testing {

/// ca.pem: an authority. good.pem and good.key: a certificate of it for localhost and 127.0.0.1. own.pem and own.key:
/// one that signed itself. Made once a program.
class Certificates {
 public:
  static const Certificates& get() {
    static const Certificates made;
    return made;
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

 private:
  Certificates() {
    std::string made = (std::filesystem::temp_directory_path() / "tidemark-tls-XXXXXX").string();
    REQUIRE(::mkdtemp(made.data()) != nullptr);
    folder_ = made;
    const std::string key = " -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    const std::string names = " -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -subj /CN=test";
    run("req -x509 -days 2 -subj /CN=authority -keyout ca.key -out ca.pem" + key);
    run("req -keyout good.key -out good.csr" + key + names);
    run("x509 -req -days 2 -in good.csr -CA ca.pem -CAkey ca.key -CAcreateserial -copy_extensions copy -out good.pem");
    run("req -x509 -days 2 -keyout own.key -out own.pem" + key + names);
  }
  ~Certificates() { std::filesystem::remove_all(folder_); }

  void run(const std::string& arguments) const {
    const std::string command =
        "cd '" + folder_.string() + "' && '" OPENSSL_PROGRAM "' " + arguments + " >/dev/null 2>&1";
    REQUIRE(std::system(command.c_str()) == 0);
  }

  std::filesystem::path folder_;
};

}  // namespace tidemark::testing
