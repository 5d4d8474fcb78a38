// What upstreams have refused: by upstream and model, for as long as the process runs.
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <string_view>

#include "core/seam/form.hpp"

namespace tidemark::continuation {

/// Whether an upstream's answer to a continuing request says that it never takes this form: 400, 404 or 422 to a
/// prefix, unless the body (as far as it is known) blames the length of the prompt. What is said to a user turn or to a
/// resume concerns that one request only.
bool refuses_form(seam::Form form, int status, std::string_view body);

/// Remembers the refusals of the kCapacity pairs of upstream and model that were asked about last.
class RefusedForms {
 public:
  static constexpr std::size_t kCapacity = 256;

  void refused(std::string_view upstream, std::string_view model, seam::Form form);
  bool is_refused(std::string_view upstream, std::string_view model, seam::Form form);
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::string upstream;
    std::string model;
    unsigned forms = 0;  // a bit each
  };
  Entry* find(std::string_view upstream, std::string_view model);

  std::list<Entry> entries_;  // the one asked about last stands first
};

}  // namespace tidemark::continuation
