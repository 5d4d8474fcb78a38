// Cutting, and the continuations of each kind.
#include "tests/core/seam/seam_cases.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

#include "core/base/utf8.hpp"
#include "core/seam/joiner.hpp"
#include "core/seam/letters.hpp"

namespace tidemark::seam::test {
namespace {

constexpr std::array kAnswerKinds{"english", "chinese", "japanese", "other", "code", "tables", "lists"};

std::size_t below(Random& random, std::size_t limit) { return static_cast<std::size_t>(random.next() % limit); }

std::size_t boundary_from(std::string_view text, std::size_t at) {
  while (at < text.size() && is_continuation(text[at])) ++at;
  return std::min(at, text.size());
}

// The beginning of `text`'s last `count` code points.
std::size_t last_points(std::string_view text, std::size_t count) {
  std::size_t at = text.size();
  while (count > 0 && at > 0) {
    if (!is_continuation(text[--at])) --count;
  }
  return at;
}

// Where a token ends that begins at `at`: a space and up to eight letters, a run of others, one to three CJK letters.
std::size_t token_end(Random& random, std::string_view text, std::size_t at) {
  std::size_t most = 1 + below(random, 8), length = 0;
  bool first = true;
  while (at < text.size() && most > 0) {
    const char32_t point = decode_at(text, at, length);
    if (!first && !is_letter(point)) break;
    first = first && point == ' ';
    at += length;
    most = is_cjk(point) ? (most > 3 ? 2 : most - 1) : most - 1;
    if (!is_letter(point) && point != ' ') break;
  }
  return at;
}

void cut_into_tokens(Random& random, std::string_view text, std::vector<std::string>& events) {
  // Some providers send more at a time.
  const std::size_t tokens_an_event = below(random, 8) == 0 ? 2 + below(random, 10) : 1;
  while (!text.empty()) {
    std::size_t end = 0;
    for (std::size_t i = 0; i < tokens_an_event && end < text.size(); ++i) end = token_end(random, text, end);
    events.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

// A place between the first twentieth of an answer and its end: anywhere, between tokens, or at a line's or sentence's
// end.
std::size_t cut_of(Random& random, std::string_view text) {
  const std::size_t first = std::max<std::size_t>(text.size() / 20, 1);
  std::size_t at = boundary_from(text, first + below(random, text.size() - first));
  const auto move_behind = [&](std::string_view mark) {
    const std::size_t found = text.find(mark, at);
    if (found != std::string_view::npos && found + mark.size() < text.size()) at = found + mark.size();
  };
  switch (below(random, 6)) {
    case 0:
      move_behind("\n");
      break;
    case 1:
      move_behind(below(random, 2) == 0 ? ". " : "。");
      break;
    case 2:
      move_behind(" ");
      break;
    case 3: {
      const std::size_t space = text.find(' ', at);
      if (space != std::string_view::npos) at = space;
      break;
    }
    default:
      break;
  }
  return at < text.size() ? at : last_points(text, 1);
}

const std::vector<std::string>& lead_ins(std::string_view kind) {
  static const std::vector<std::string> english{"Sure, continuing:\n\n",
                                                "Sure! Here's the rest:\n\n",
                                                "Here is the rest of the answer:\n\n",
                                                "Continuing from where I left off:\n\n",
                                                "Continuing from where we left off...\n\n",
                                                "I apologize for the interruption. ",
                                                "I apologize for the interruption. Let me continue:\n\n",
                                                "Let me continue from where I left off.\n\n",
                                                "Certainly, picking up where I left off:\n\n",
                                                "Of course! Let me continue.\n\n",
                                                "Sorry about that, I'll continue from where I left off. ",
                                                "Apologies for the interruption! Continuing: ",
                                                "Okay, let's continue.\n\n",
                                                "Got it. Continuing from there:\n\n",
                                                "**Continuing from where I left off:**\n\n",
                                                "Picking up right where I left off:\n\n",
                                                "Here’s the continuation:\n\n",
                                                "Sure, here is the remaining part of the response:\n\n",
                                                "It looks like my previous response was cut off. Here is the rest:\n\n",
                                                "Resuming where I stopped:\n\n",
                                                "Absolutely! I'll continue.\n\n",
                                                "I'll continue from where I stopped:\n\n"};
  static const std::vector<std::string> chinese{
      "好的，继续：\n\n",      "好的，我继续回答。\n\n",     "好的，以下是剩余的内容：\n\n",
      "接着上文继续：",        "当然，下面继续：\n\n",       "抱歉，刚才的回答被中断了。",
      "继续上文：\n\n",        "好的，接着刚才的内容：\n\n", "以下是剩余部分：\n\n",
      "没问题，我接着写：\n\n"};
  static const std::vector<std::string> japanese{"続きです。\n\n",
                                                 "はい、続けます。\n\n",
                                                 "承知しました。続きを書きます。\n\n",
                                                 "申し訳ありません、途中で切れてしまいました。",
                                                 "それでは続きを説明します。\n\n",
                                                 "では、続けます。\n\n",
                                                 "続きは以下の通りです。\n\n",
                                                 "失礼しました。続きです。\n\n"};
  static const std::vector<std::string> other{"Natürlich, hier ist der Rest:\n\n",
                                              "Ich fahre dort fort, wo ich aufgehört habe:\n\n",
                                              "Entschuldigung für die Unterbrechung. ",
                                              "Bien sûr, voici la suite :\n\n",
                                              "Voici la suite :\n\n",
                                              "Je reprends là où je m'étais arrêté :\n\n",
                                              "Désolé pour l'interruption. ",
                                              "Claro, continúo:\n\n",
                                              "Continuando desde donde lo dejé:\n\n",
                                              "Aquí está el resto:\n\n",
                                              "Конечно, продолжаю:\n\n",
                                              "Продолжаю с того места, где остановился:\n\n",
                                              "네, 계속하겠습니다.\n\n",
                                              "이어서 설명하겠습니다.\n\n"};
  if (kind == "chinese") return chinese;
  if (kind == "japanese") return japanese;
  return kind == "other" ? other : english;
}

const std::vector<std::string>& refusals(std::string_view kind) {
  static const std::vector<std::string> english{"I'm sorry, but I can't help with that request.",
                                                "I'm sorry, but I can't continue this text.",
                                                "I apologize, but I cannot assist with that.",
                                                "I cannot help with this request.",
                                                "As an AI language model, I don't have access to previous messages.",
                                                "Hello! How can I help you today?",
                                                "It seems your message was cut off. What would you like me to do?",
                                                "Great question! There are several things to consider here."};
  static const std::vector<std::string> chinese{"抱歉，我无法继续回答这个问题。", "你好！有什么可以帮你的吗？",
                                                "您的消息似乎不完整，请补充。", "对不起，但我无法提供帮助。"};
  static const std::vector<std::string> japanese{"申し訳ありませんが、お手伝いできません。",
                                                 "申し訳ございません。その内容にはお答えできません。"};
  if (kind == "chinese") return chinese;
  return kind == "japanese" ? japanese : english;
}

const std::string& one_of(Random& random, const std::vector<std::string>& texts) {
  return texts[below(random, texts.size())];
}

const Answer& another(Random& random, const Group& group, const Answer& answer) {
  for (;;) {
    const Answer& other = *group[below(random, group.size())];
    if (&other != &answer) return other;
  }
}

void add_echo(Random& random, Case& item, bool whole) {
  std::size_t at = item.delivered.size();
  const std::uint32_t least = item.kind == Kind::EchoLight ? 1 : 12;
  const std::size_t most = item.kind == Kind::EchoLight ? 11 : 200;
  std::size_t points = 1 + below(random, most);
  const auto echo = [&] { return std::string_view(item.delivered).substr(at); };
  at = last_points(item.delivered, points);
  while (at > 0 && weight(echo()) < least) at = last_points(item.delivered, ++points);
  while (item.kind == Kind::EchoLight && weight(echo()) >= 12) at = last_points(item.delivered, --points);
  if (whole) {
    item.events.emplace_back(echo());
  } else {
    cut_into_tokens(random, echo(), item.events);
  }
  cut_into_tokens(random, item.rest, item.events);
}

}  // namespace

std::vector<Answer> read_answers() {
  std::vector<Answer> answers;
  for (const std::string kind : kAnswerKinds) {
    std::ifstream in("tests/core/seam/answers/" + kind + ".txt");
    std::string* text = nullptr;
    for (std::string line; std::getline(in, line);) {
      if (line == "=== answer") {
        answers.push_back({kind, {}, {}});
        text = &answers.back().text;
      } else if (line == "=== paraphrase") {
        text = &answers.back().paraphrases.emplace_back();
      } else {
        *text += line + "\n";
      }
    }
  }
  return answers;
}

std::vector<Group> by_kind(const std::vector<Answer>& answers) {
  std::vector<Group> groups;
  for (const Answer& answer : answers) {
    if (groups.empty() || groups.back().front()->kind != answer.kind) groups.emplace_back();
    groups.back().push_back(&answer);
  }
  return groups;
}

std::string_view name(Kind kind) {
  switch (kind) {
    case Kind::Clean:
      return "clean continuation";
    case Kind::Stripped:
      return "clean, white space stripped";
    case Kind::EchoLight:
      return "echo lighter than 12";
    case Kind::Echo:
      return "echo up to 200, one event";
    case Kind::EchoInPieces:
      return "echo up to 200, in tokens";
    case Kind::Restart:
      return "restart";
    case Kind::RestartDrifts:
      return "restart that drifts";
    case Kind::Paraphrase:
      return "paraphrased restart";
    case Kind::LeadIn:
      return "lead-in, continuation";
    case Kind::Refusal:
      return "apology or greeting";
    case Kind::OtherAnswer:
      return "another answer";
  }
  return {};
}

Case make_case(Random& random, const Group& group, Kind kind) {
  const Answer& answer = *group[below(random, group.size())];
  Case item{kind, {}, 0, {}, {}};
  const std::size_t at = cut_of(random, answer.text);
  item.delivered = answer.text.substr(0, at);
  item.rest = answer.text.substr(at);
  switch (kind) {
    case Kind::Clean:
      cut_into_tokens(random, item.rest, item.events);
      break;
    case Kind::Stripped: {
      const std::size_t shown = item.delivered.find_last_not_of(" \n") + 1;
      item.stripped_bytes = item.delivered.size() - shown;
      cut_into_tokens(random, item.delivered.substr(shown) + item.rest, item.events);
      break;
    }
    case Kind::EchoLight:
    case Kind::Echo:
      add_echo(random, item, true);
      break;
    case Kind::EchoInPieces:
      add_echo(random, item, false);
      break;
    case Kind::Restart:
      cut_into_tokens(random, answer.text, item.events);
      break;
    case Kind::RestartDrifts: {
      const std::size_t drift = boundary_from(answer.text, 40 + below(random, 80));
      const std::string& other = one_of(random, answer.paraphrases);
      cut_into_tokens(random, answer.text.substr(0, drift) + other.substr(boundary_from(other, drift)), item.events);
      break;
    }
    case Kind::Paraphrase:
      cut_into_tokens(random, one_of(random, answer.paraphrases), item.events);
      break;
    case Kind::LeadIn:
      cut_into_tokens(random, one_of(random, lead_ins(answer.kind)) + item.rest, item.events);
      break;
    case Kind::Refusal:
      cut_into_tokens(random, one_of(random, refusals(answer.kind)), item.events);
      break;
    case Kind::OtherAnswer:
      cut_into_tokens(random, another(random, group, answer).text, item.events);
      break;
  }
  return item;
}

Joined join(const Case& item) {
  Joiner joiner(item.delivered, {.continuer = Continuer::Model, .stripped_bytes = item.stripped_bytes});
  Joined joined;
  std::string text, held, whole;
  std::size_t trimmed = 0;
  bool dropped = false;
  const auto take = [&](const Joiner::Decision& decision) {
    switch (decision.step) {
      case Joiner::Step::Hold:
        return true;
      case Joiner::Step::Drop:
        dropped = true;
        held.clear();
        return true;
      case Joiner::Step::Join:
        trimmed += decision.trim_bytes;
        text += held.substr(decision.trim_bytes);
        held.clear();
        return true;
      case Joiner::Step::Refuse:
        joined.why = decision.why;
        return false;
    }
    return true;
  };
  bool refused = false;
  for (const std::string& event : item.events) {
    held += event;
    whole += event;
    refused = !take(joiner.offer(event));
    if (refused) break;
    if (!joiner.decided()) ++joined.held_events;
  }
  if (!refused && !joiner.decided()) refused = !take(joiner.finish());
  if (refused) {
    joined.outcome = Outcome::Refused;
  } else if (text == item.rest) {
    joined.outcome = trimmed > 0 || dropped ? Outcome::Trimmed : Outcome::Exact;
  } else if (item.kind == Kind::EchoLight && trimmed == 0 && text == whole) {
    joined.outcome = Outcome::Chance;
  } else {
    joined.outcome = Outcome::Wrong;
  }
  return joined;
}

}  // namespace tidemark::seam::test
