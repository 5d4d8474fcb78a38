// Set phrases, and the small patterns that they are written in.
#include "core/seam/lead_in.hpp"

#include <array>
#include <cstddef>

#include "core/base/utf8.hpp"
#include "core/seam/letters.hpp"

namespace tidemark::seam {
namespace {

constexpr std::size_t kLongest = 320;  // no phrase has more bytes

// Where a phrase can't be the answer's own.
enum class Counts : std::uint8_t {
  Anywhere,
  InSentence,  // in a word, or between the words of a sentence
  InWord,      // where not even a space has gone before
};

struct Phrase {
  LeadIn means;
  Counts counts;
  std::string_view pattern;
};

// Patterns: (a|b) is one of them, a space any white space, an apostrophe either form; all in lower case.
constexpr std::string_view kOpener =
    "(sure|of course|certainly|absolutely|okay|ok|alright|all right|got it|understood|no problem|right|great|yes|"
    "my apologies|apologies|sorry|sorry about that|sorry for that|i'm sorry|thank you|thanks|happy to "
    "help|natürlich|gerne|klar|selbstverständlich|"
    "in ordnung|entschuldigung|bien sûr|d'accord|très bien|désolé|certo|va bene|claro|por supuesto|de acuerdo|"
    "disculpa|perdón|com certeza|desculpe|конечно|хорошо|извините)( thing|)(,|!|.|:|;| -| –| —) ";

constexpr std::string_view kCjkOpener =
    "(好的|当然|当然可以|没问题|可以|明白了|抱歉|对不起|很抱歉|非常抱歉|好|はい|承知しました|承知いたしました|もちろん|"
    "もちろんです|わかりました|分かりました|了解しました|申し訳ありません|申し訳ございません|失礼しました|네|"
    "물론입니다|"
    "알겠습니다|죄송합니다)(，|,|。|！|!|、|：|:|.|…)( |)";

constexpr auto kAny = Counts::Anywhere;
constexpr auto kSentence = Counts::InSentence;
constexpr auto kWord = Counts::InWord;

constexpr std::array kPhrases{
    // English
    Phrase{
        LeadIn::Talk, kAny,
        "(continuing|continued|continue|resuming|picking up|carrying on|i'll continue|i will continue|let me continue|"
        "let's continue|let me pick up|i'll pick up|let me resume|i'll resume)( on| right| exactly| directly|)( from|)"
        " (where|the point where|the exact point|exactly where|right where) (i|we|you|it|my|the|that|this)"},
    Phrase{LeadIn::Talk, kAny,
           "(continuing|continuation|resuming)( now|)(:|...|…| from (there|my|the previous|the last|that point|above)|"
           " (my|the|our) (previous |last |interrupted |)(answer|response|reply|message|explanation|text|output))"},
    Phrase{LeadIn::Talk, kAny,
           "(here is|here's|here are|below is|this is) (the |my |your |)(rest|continuation|remainder|remaining part|"
           "remaining text|continued text|continued response|next part)(:|.|!|...|…| of (the|my|your|that|this|our) "
           "(previous |last |interrupted |original |)(answer|response|reply|message|explanation|text|output))"},
    Phrase{LeadIn::Talk, kAny,
           "(let me|let's|let us|i'll|i will|i'd be happy to|i would be happy to|i'm happy to|i can|allow me to|"
           "i'm going to) (continue|carry on|go on|resume|finish|complete)(:|...|…| (from|my|the|our|this|that) "
           "(there|here|previous|last|that point|interrupted|answer|response|reply|message|explanation|above))"},
    Phrase{LeadIn::Talk, kAny,
           "(i apologize|i apologise|apologies|my apologies|sorry|i'm sorry) (for|about) (the|that|any|my) "
           "(interruption|cut-off|cutoff|abrupt|disconnection|previous|truncated|incomplete|break)"},
    Phrase{
        LeadIn::Talk, kAny,
        "(it looks like|it seems|it appears|looks like)( that|) (my|the|your) (previous |last |)"
        "(answer|response|reply|message|text|output|prompt) (was|got|has been|is|seems|may have been|might have been)"
        " (cut|interrupted|truncated|incomplete)"},
    Phrase{LeadIn::Talk, kSentence,
           "(let me|let's|let us|i'll|i will|i'd be happy to|i can|allow me to|i am|i'm) "
           "(continue|continuing|carry on|go on|resume|pick up|finish)( |,|.|:|!|…)"},
    Phrase{LeadIn::Talk, kSentence,
           "(here is|here's|here are) the (rest|continuation|remainder|remaining|next)( |,|.|:|!|…)"},
    Phrase{LeadIn::Talk, kSentence, "(to continue|continuing|as i was saying|as mentioned|where were we)(,|:|…|...)"},
    Phrase{LeadIn::Talk, kWord,
           "(here is|here's|here are|below is|the following is) (a|an|the|your|some|my|one|how)( )"},
    Phrase{LeadIn::Talk, kWord, "(sure|of course|certainly|absolutely)(!|.|,| thing) "},
    Phrase{LeadIn::Another, kSentence, "(great|good) question(!|.) "},
    Phrase{LeadIn::Another, kAny,
           "(i'm sorry|i am sorry|i apologize|sorry), but i (can't|cannot|can not|won't|am unable to|am not able to|"
           "'m unable to) (continue|assist with|help with|fulfill|fulfil|comply with|complete) "
           "(the|this|that|with|your)( request| response| answer| text| message|.|,)"},
    Phrase{LeadIn::Another, kSentence,
           "(i'm sorry|i am sorry|i apologize|sorry)(, but|, however,| but|. however,) i"
           "( can't| cannot| can not| won't| am|'m| don't| do not)( )"},
    Phrase{LeadIn::Another, kSentence,
           "(i can't|i cannot|i'm unable to|i am unable to|i'm not able to|i won't) "
           "(continue|assist|help|fulfill|fulfil|comply|complete|provide)( |.|,)"},
    Phrase{LeadIn::Another, kSentence, "as an ai( language model|)( |,)"},
    Phrase{LeadIn::Another, kSentence, "(hello|hi|hey)( there|)(!|,|.) (how|what|i|it|thanks|thank)( |'|’)"},
    Phrase{LeadIn::Another, kWord, "(hello|hi|hey)( there|)(!|,|.) "},
    // German, French, Spanish, Italian, Portuguese, Russian
    Phrase{LeadIn::Talk, kAny,
           "(hier ist der rest|hier kommt der rest|hier geht es weiter|weiter geht es|weiter geht's|fortsetzung|"
           "hier ist die fortsetzung|hier die fortsetzung)(:|.|!|…)"},
    Phrase{LeadIn::Talk, kAny,
           "(ich fahre fort|ich mache weiter|ich setze fort|ich fahre dort fort|ich mache dort weiter|"
           "ich setze dort fort|weiter)( dort|)(:|.|…|, wo| wo )"},
    Phrase{LeadIn::Talk, kAny,
           "(entschuldigung|ich entschuldige mich|entschuldige|entschuldigen sie|verzeihung)( bitte|) "
           "(für|wegen) (die|der) (unterbrechung|störung)"},
    Phrase{LeadIn::Talk, kAny,
           "(voici la suite|suite|voici le reste|la suite)( de (ma|la|votre) réponse|)( |)(:|.|!|…)"},
    Phrase{LeadIn::Talk, kAny,
           "(je continue|je reprends|je poursuis|reprenons|continuons)( là|)( |)(:|.|…|où j|où nous|où l)"},
    Phrase{LeadIn::Talk, kAny,
           "(désolé|désolée|je m'excuse|toutes mes excuses|mes excuses)( de| pour| pour l'| de l')( |)"
           "(l'|cette |)(interruption|coupure)"},
    Phrase{
        LeadIn::Talk, kAny,
        "(aquí está el resto|aquí está la continuación|aquí tienes el resto|aquí tienes la continuación|continuación|"
        "sigue el resto)( de (la|mi) respuesta|)(:|.|!|…)"},
    Phrase{LeadIn::Talk, kAny,
           "(continúo|continuando|sigo|continuaré|retomo|voy a continuar|continuemos)( desde| justo|)"
           "(:|.|…| donde (lo |)(dejé|dejamos|quedé|quedamos|me|nos|se))"},
    Phrase{LeadIn::Talk, kAny,
           "(perdón|disculpa|disculpe|disculpas|lo siento|siento)( por|) (la|esta) (interrupción|desconexión)"},
    Phrase{LeadIn::Talk, kAny,
           "(ecco il resto|ecco la continuazione|ecco il seguito|continuo da dove|riprendo da dove)( |:|.|!)"},
    Phrase{LeadIn::Talk, kAny,
           "(aqui está o resto|aqui está a continuação|continuação|continuando de onde|continuando|vou continuar)(:| "
           "parei)"},
    Phrase{LeadIn::Talk, kAny,
           "(продолжаю|продолжу|продолжим|продолжение|вот продолжение|вот остальное|вот оставшаяся часть)"
           "( ответа|)(:|.|…| с того места| с места)"},
    Phrase{LeadIn::Talk, kAny, "(извините|прошу прощения|простите) за (прерывание|обрыв|паузу)"},
    Phrase{
        LeadIn::Another, kSentence,
        "(es tut mir leid|tut mir leid|je suis désolé|lo siento|mi dispiace|к сожалению|извините),( aber| mais| pero|"
        " ma| но|) (ich kann|je ne peux|no puedo|non posso|я не могу)"},
    // Chinese
    Phrase{
        LeadIn::Talk, kAny,
        "(继续|接着|接上文|续上文|接续上文|继续上文|接着上文|我继续|让我继续|我们继续|接下来继续|下面继续|以下继续|"
        "从中断处继续|从上次中断|从刚才中断)(：|:|……|…|。|，从|从|上面|上文|刚才|之前的|前面的|回答|说|写|的地方|处)"},
    Phrase{
        LeadIn::Talk, kAny,
        "(以下是|下面是|这是|这里是)(剩余|余下|剩下|接下来|后续|未完成|续写|继续)(的|)(部分|内容|回答|文字|文本|：|:)"},
    Phrase{LeadIn::Talk, kAny,
           "(抱歉|对不起|很抱歉|非常抱歉)(，|,|)(刚才|之前|上次|我的|我刚才|回答|上一)(的|)(回答|回复|内容|消息|)(被|"
           "中断|断|没有)"},
    Phrase{LeadIn::Another, kSentence, "(抱歉|对不起|很抱歉|非常抱歉)(，|,)(但|我|但是)(我|)(无法|不能|没有办法)"},
    Phrase{LeadIn::Another, kSentence, "(您好|你好)(！|，|,|!)"},
    Phrase{LeadIn::Another, kAny, "(您的|你的)(消息|问题|输入|信息)(似乎|好像|看起来|可能)(不完整|被截断|没有|被)"},
    // Japanese
    Phrase{LeadIn::Talk, kAny,
           "(続きです|続きを|続きから|続きは以下|以下、続き|以下は続き|以下が続き|続けます|では続けます|では、続けます|"
           "それでは続けます|それでは、続けます|では続き|では、続き|それでは続き|それでは、続き)"
           "(。|：|:|！|お書き|お答え|お伝え|書きます|書かせ|説明します|説明いたし|記します|記載|回答|再開します|"
           "始めます|の通り)"},
    Phrase{LeadIn::Talk, kAny, "(では|それでは)(、|)続き(を|から|です|に)"},
    Phrase{LeadIn::Talk, kAny,
           "(申し訳ありません|申し訳ございません|すみません|失礼しました|失礼いたしました)(が|)(。|、)"
           "(途中|先ほど|中断|回答|応答|続き|前回)"},
    Phrase{LeadIn::Another, kSentence, "(申し訳ありません|申し訳ございません|すみません)(が|)(、|。)"},
    // Korean
    Phrase{
        LeadIn::Talk, kAny,
        "(계속하겠습니다|계속해서 작성하겠습니다|이어서 작성하겠습니다|이어서 설명하겠습니다|이어서 말씀드리겠습니다|"
        "나머지 내용입니다|이어지는 내용입니다|계속 이어가겠습니다)"},
    Phrase{LeadIn::Another, kSentence, "(죄송합니다|죄송하지만)(.|,|만)( |)"},
};

// After an opener these are lead-ins, whatever stands around them.
constexpr std::array kAfterOpener{
    Phrase{
        LeadIn::Talk, kAny,
        "(continuing|continued|continue|resuming|picking up|carrying on)(:|,|.|!|...|…| from| where| with| on| right)"},
    Phrase{LeadIn::Talk, kAny,
           "(let me|let's|let us|i'll|i will|i'd be happy to|i can|allow me to|i am|i'm) "
           "(continue|continuing|carry on|go on|resume|pick up|finish|complete|restart|start over|try again)( "
           "|,|.|:|!|…)"},
    Phrase{LeadIn::Talk, kAny,
           "(here is|here's|here are|below is|this is) (the |my |your |)"
           "(rest|continuation|remainder|remaining|continued|next|full|complete|answer|response)"},
    Phrase{LeadIn::Talk, kAny, "(hier ist|hier kommt|hier sind) (der rest|die fortsetzung|der weitere|die restlichen)"},
    Phrase{LeadIn::Talk, kAny,
           "(hier geht es weiter|ich fahre fort|ich mache weiter|ich setze|weiter geht|machen wir weiter)"},
    Phrase{LeadIn::Talk, kAny,
           "(voici la suite|voici le reste|je continue|je reprends|je poursuis|continuons|reprenons)"},
    Phrase{LeadIn::Talk, kAny,
           "(aquí está|aquí tienes|continúo|continuaré|continuando|sigo|voy a continuar|continuemos)"},
    Phrase{LeadIn::Talk, kAny, "(ecco |continuo |proseguo|riprendo|aqui está|continuo|vou continuar|continuarei)"},
    Phrase{LeadIn::Talk, kAny, "(продолжаю|продолжу|продолжим|вот продолжение|вот остальн|вот оставш)"},
    Phrase{LeadIn::Talk, kAny,
           "(我|我来|让我|下面|我们|我将|我会|现在|接着|那么|那我|)(继续|接着)(：|:|。|…|从|回|说|写|为|完成|上|刚|之|"
           "前|讲|介绍)"},
    Phrase{LeadIn::Talk, kAny, "(以下是|下面是|这是|这里是)(剩|余|接|后|未|续|继|完)"},
    Phrase{LeadIn::Talk, kAny, "(刚才|之前|上次|我的)(的|)(回答|回复|内容|消息|)(被|中断|断)"},
    Phrase{LeadIn::Talk, kAny, "(では|それでは|)(、|)(続き|続けます|続けて|途中|以下)"},
    Phrase{LeadIn::Talk, kAny, "(계속|이어서|나머지|이어)"},
};

struct Matched {
  LeadIn outcome = LeadIn::None;  // None, Open, or (any other) matched
  std::size_t end = 0;            // of the match in the text
};

// Behind the group in one of whose alternatives `at` is.
std::size_t leave(std::string_view pattern, std::size_t at) {
  for (int depth = 0;; ++at) {
    if (pattern[at] == '(') ++depth;
    if (pattern[at] == ')' && depth-- == 0) return at + 1;
  }
}

// The group's next alternative; 0 after the last.
std::size_t next_alternative(std::string_view pattern, std::size_t at) {
  for (int depth = 0;; ++at) {
    if (pattern[at] == '(') ++depth;
    if (pattern[at] == '|' && depth == 0) return at + 1;
    if (pattern[at] == ')' && depth-- == 0) return 0;
  }
}

char32_t plain(char32_t point) { return point == 0x2019 ? U'\'' : folded(point); }

// The first way in which the pattern, from `in` on, matches the text from `at` on; else whether more text may match it.
Matched match(std::string_view pattern, std::size_t in, std::string_view text, std::size_t at) {
  while (in < pattern.size()) {
    const char next = pattern[in];
    if (next == '(') {
      Matched best{LeadIn::None, at};
      for (std::size_t way = in + 1; way != 0; way = next_alternative(pattern, way)) {
        const Matched one = match(pattern, way, text, at);
        if (one.outcome == LeadIn::Talk) return one;
        if (one.outcome == LeadIn::Open) best = one;
      }
      return best;
    }
    if (next == '|' || next == ')') {
      in = leave(pattern, in);
      continue;
    }
    if (at >= text.size()) return {LeadIn::Open, at};
    std::size_t expected_length = 0, length = 0;
    const char32_t expected = decode_at(pattern, in, expected_length);
    const char32_t point = decode_at(text, at, length);
    if (expected == ' ' ? !is_white(point) : plain(point) != expected) return {LeadIn::None, at};
    at += length;
    if (expected == ' ') {
      while (at < text.size() && is_white(decode_at(text, at, length))) at += length;
    }
    in += expected_length;
  }
  return {LeadIn::Talk, at};
}

bool counts_at(Counts counts, Place place) {
  if (counts == Counts::Anywhere) return true;
  if (place == Place::Fresh) return false;
  return counts == Counts::InSentence || place != Place::Sentence;
}

template <class Phrases>
LeadIn one_of(const Phrases& phrases, std::string_view text, std::size_t at, Place place) {
  LeadIn outcome = LeadIn::None;
  for (const Phrase& phrase : phrases) {
    if (!counts_at(phrase.counts, place)) continue;
    const Matched matched = match(phrase.pattern, 0, text, at);
    if (matched.outcome == LeadIn::Talk) return phrase.means;
    if (matched.outcome == LeadIn::Open) outcome = LeadIn::Open;
  }
  return outcome;
}

}  // namespace

LeadIn lead_in_of(std::string_view continuation, Place place) {
  std::string_view text = continuation.substr(0, kLongest);
  if (text.empty()) return LeadIn::Open;
  // Set in bold, in brackets, as a quotation.
  std::size_t at = 0;
  while (at < text.size() && (text[at] == '*' || text[at] == '_' || text[at] == '[' || text[at] == '(')) ++at;
  if (at == text.size()) return at > 4 ? LeadIn::None : LeadIn::Open;
  std::size_t length = 0;
  const char32_t first = decode_at(text, at, length);
  if (!is_letter(first) || (!is_caseless(first) && !is_upper(first))) return LeadIn::None;

  LeadIn outcome = one_of(kPhrases, text, at, place);
  for (const std::string_view opener : {kOpener, kCjkOpener}) {
    if (outcome == LeadIn::Talk || outcome == LeadIn::Another) return outcome;
    const Matched opened = match(opener, 0, text, at);
    if (opened.outcome == LeadIn::Open) outcome = LeadIn::Open;
    if (opened.outcome != LeadIn::Talk) continue;
    const LeadIn after = one_of(kAfterOpener, text, opened.end, place);
    if (after != LeadIn::None) outcome = after;
  }
  return outcome == LeadIn::Open && text.size() == kLongest ? LeadIn::None : outcome;
}

}  // namespace tidemark::seam
