// Which refusals are remembered, of whom, and how many.
#include "native/continuation/refused_forms.hpp"

#include <string>

#include "tests/catch.hpp"

namespace tidemark::continuation {
namespace {

using seam::Form;

TEST_CASE("a refusal is remembered of one upstream, one model and one form") {
  RefusedForms forms;
  CHECK_FALSE(forms.is_refused("a", "m", Form::Prefix));
  forms.refused("a", "m", Form::Prefix);
  CHECK(forms.is_refused("a", "m", Form::Prefix));
  CHECK_FALSE(forms.is_refused("a", "m", Form::ContinueTurn));
  CHECK_FALSE(forms.is_refused("a", "n", Form::Prefix));
  CHECK_FALSE(forms.is_refused("b", "m", Form::Prefix));
  forms.refused("a", "m", Form::ContinueTurn);
  CHECK(forms.is_refused("a", "m", Form::Prefix));
  CHECK(forms.is_refused("a", "m", Form::ContinueTurn));
  CHECK(forms.size() == 1);
}

TEST_CASE("what was not asked about for the longest time is forgotten first") {
  RefusedForms forms;
  for (std::size_t i = 0; i < RefusedForms::kCapacity; ++i) {
    forms.refused("a", std::to_string(i), Form::Prefix);
  }
  CHECK(forms.is_refused("a", "0", Form::Prefix));
  forms.refused("a", "one more", Form::Prefix);
  CHECK(forms.size() == RefusedForms::kCapacity);
  CHECK(forms.is_refused("a", "0", Form::Prefix));
  CHECK_FALSE(forms.is_refused("a", "1", Form::Prefix));
  CHECK(forms.is_refused("a", "2", Form::Prefix));
}

TEST_CASE("only what an upstream says to a prefix is about the form") {
  struct Case {
    Form form;
    int status;
    const char* body;
    bool refuses;
  };
  const Case cases[] = {
      {Form::Prefix, 400, "This model does not support assistant message prefill.", true},
      {Form::Prefix, 404, "", true},
      {Form::Prefix, 422, R"({"detail":"extra fields not permitted"})", true},
      {Form::Prefix, 400, R"({"error":{"code":"context_length_exceeded"}})", false},
      {Form::Prefix, 400, "Prompt is TOO LONG: 200001 tokens", false},
      {Form::Prefix, 429, "", false},
      {Form::Prefix, 500, "", false},
      {Form::Prefix, 200, "", false},
      {Form::ContinueTurn, 400, "", false},
      {Form::Reattach, 404, "", false},
  };
  for (const Case& one : cases) {
    CAPTURE(seam::name(one.form), one.status, one.body);
    CHECK(refuses_form(one.form, one.status, one.body) == one.refuses);
  }
}

TEST_CASE("forms have names") {
  for (const Form form : {Form::Reattach, Form::Prefix, Form::ContinueTurn}) {
    CHECK(seam::form_from_name(seam::name(form)) == form);
  }
  CHECK(seam::name(Form::ContinueTurn) == "continue-turn");
  CHECK_FALSE(seam::form_from_name("Prefix"));
  CHECK_FALSE(seam::form_from_name(""));
}

}  // namespace
}  // namespace tidemark::continuation
