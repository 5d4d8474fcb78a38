// A short list, the entry used last in front.
#include "native/continuation/refused_forms.hpp"

#include <algorithm>
#include <array>

#include "native/continuation/providers.hpp"

namespace tidemark::continuation {
namespace {

constexpr unsigned bit(seam::Form form) { return 1u << static_cast<unsigned>(form); }

// How providers say that the prompt is too long for the model, in lower case.
constexpr std::array<std::string_view, 5> kTooLong{"context_length", "context length", "context window", "too long",
                                                   "too many tokens"};

}  // namespace

bool refuses_form(seam::Form form, int status, std::string_view body) {
  if (form != seam::Form::Prefix || (status != 400 && status != 404 && status != 422)) return false;
  const std::string said = lower_case(body);
  return std::none_of(kTooLong.begin(), kTooLong.end(),
                      [&said](std::string_view words) { return said.find(words) != std::string::npos; });
}

void RefusedForms::refused(std::string_view upstream, std::string_view model, seam::Form form) {
  if (Entry* known = find(upstream, model)) {
    known->forms |= bit(form);
    return;
  }
  entries_.push_front({std::string(upstream), std::string(model), bit(form)});
  if (entries_.size() > kCapacity) entries_.pop_back();
}

bool RefusedForms::is_refused(std::string_view upstream, std::string_view model, seam::Form form) {
  const Entry* known = find(upstream, model);
  return known != nullptr && (known->forms & bit(form)) != 0;
}

RefusedForms::Entry* RefusedForms::find(std::string_view upstream, std::string_view model) {
  const auto at = std::find_if(entries_.begin(), entries_.end(),
                               [&](const Entry& one) { return one.upstream == upstream && one.model == model; });
  if (at == entries_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, at);
  return &entries_.front();
}

}  // namespace tidemark::continuation
