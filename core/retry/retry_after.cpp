// Retry-After and HTTP dates.
#include "core/retry/retry_after.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace tidemark::retry {
namespace {

constexpr TimeMs kMost = TimeMs{1} << 52;  // longer waits are all the same

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A decimal number with an optional fraction, times `scale`, rounded up: who waits less than asked is refused again.
std::optional<TimeMs> parse_decimal(std::string_view text, TimeMs scale) {
  std::size_t at = 0;
  TimeMs whole = 0;
  for (; at < text.size() && is_digit(text[at]); ++at) whole = std::min(whole * 10 + (text[at] - '0'), kMost);
  if (at == 0) return std::nullopt;
  TimeMs fraction = 0;
  bool more = false;
  if (at < text.size() && text[at] == '.') {
    TimeMs unit = scale;
    for (++at; at < text.size() && is_digit(text[at]); ++at) {
      const TimeMs digit = text[at] - '0';
      more = more || (digit * unit) % 10 != 0;
      fraction += digit * unit / 10;
      unit /= 10;
      more = more || (unit == 0 && digit != 0);
    }
  }
  if (at != text.size()) return std::nullopt;
  if (whole > kMost / scale) return kMost;
  return std::min(whole * scale + fraction + (more ? 1 : 0), kMost);
}

struct DateTime {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
};

// Reads a date piece by piece; once a piece is wrong, so is all the rest.
class DateReader {
 public:
  explicit DateReader(std::string_view text) : text_(text) {}

  /// Which of the names of three letters each, from 0.
  int name(std::string_view names) {
    for (std::size_t i = 0; i < names.size(); i += 3) {
      if (take(names.substr(i, 3))) return static_cast<int>(i / 3);
    }
    return fail();
  }

  bool take(std::string_view expected) {
    if (text_.substr(0, expected.size()) != expected) return false;
    text_.remove_prefix(expected.size());
    return true;
  }

  /// Letters stand for parts of the date, all else for itself: D a day (d: of one digit), N a month's name, y a year of
  /// two digits, Y of four, h m s the time.
  void pattern(std::string_view pattern, DateTime& date) {
    for (const char& part : pattern) {
      switch (part) {
        case 'D':
          date.day = number(2);
          break;
        case 'd':
          date.day = number(1);
          break;
        case 'N':
          date.month = name("JanFebMarAprMayJunJulAugSepOctNovDec") + 1;
          break;
        case 'y':
          date.year = number(2);
          break;
        case 'Y':
          date.year = number(4);
          break;
        case 'h':
          date.hour = number(2);
          break;
        case 'm':
          date.minute = number(2);
          break;
        case 's':
          date.second = number(2);
          break;
        default:
          if (!take({&part, 1})) fail();
      }
    }
  }

  bool next_is(char c) const { return !text_.empty() && text_.front() == c; }
  bool done() const { return good_ && text_.empty(); }

 private:
  int number(int digits) {
    int value = 0;
    for (; digits > 0; --digits) {
      if (text_.empty() || !is_digit(text_.front())) return fail();
      value = value * 10 + (text_.front() - '0');
      text_.remove_prefix(1);
    }
    return value;
  }

  int fail() {
    good_ = false;
    return 0;
  }

  std::string_view text_;
  bool good_ = true;
};

bool is_leap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

bool in_range(const DateTime& d) {
  constexpr std::array<int, 12> kDays{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (d.month < 1 || d.month > 12) return false;
  const int days = kDays[static_cast<std::size_t>(d.month - 1)] + (d.month == 2 && is_leap(d.year) ? 1 : 0);
  return d.day >= 1 && d.day <= days && d.hour < 24 && d.minute < 60 && d.second <= 60;  // 60: a leap second
}

// Days since 1970-01-01 in the proleptic Gregorian calendar, counting years from March so that leap days come last.
std::int64_t days_from_civil(int year, int month, int day) {
  const std::int64_t y = month <= 2 ? year - 1 : year;
  const std::int64_t era = (y >= 0 ? y : y - 399) / 400;
  const std::int64_t year_of_era = y - era * 400;
  const std::int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

int year_of(std::int64_t unix_ms) { return static_cast<int>(1970 + unix_ms / 31556952000); }

// § 5.6.7: a two-digit year that appears to be more than 50 years in the future is the last past year with those
// digits.
int full_year(int two_digits, int now) {
  const int year = now - now % 100 + two_digits;
  return year > now + 50 ? year - 100 : year;
}

}  // namespace

std::optional<TimeMs> parse_retry_after(std::string_view retry_after, std::string_view retry_after_ms,
                                        std::int64_t unix_now_ms) {
  if (const auto ms = parse_decimal(trimmed(retry_after_ms), 1)) return ms;
  const std::string_view text = trimmed(retry_after);
  if (const auto ms = parse_decimal(text, 1000)) return ms;
  if (const auto date = parse_http_date(text, unix_now_ms)) return std::max<TimeMs>(0, *date * 1000 - unix_now_ms);
  return std::nullopt;
}

std::optional<std::int64_t> parse_http_date(std::string_view text, std::int64_t unix_now_ms) {
  constexpr std::array<std::string_view, 7> kRestOfDay{"day", "day", "sday", "nesday", "rsday", "day", "urday"};
  DateReader reader(text);
  DateTime date;
  const auto day = static_cast<std::size_t>(reader.name("SunMonTueWedThuFriSat"));
  if (reader.take(kRestOfDay[day])) {  // RFC 850: Sunday, 06-Nov-94 08:49:37 GMT
    reader.pattern(", D-N-y h:m:s GMT", date);
    date.year = full_year(date.year, year_of(unix_now_ms));
  } else if (reader.next_is(',')) {  // IMF-fixdate: Sun, 06 Nov 1994 08:49:37 GMT
    reader.pattern(", D N Y h:m:s GMT", date);
  } else {  // asctime: Sun Nov  6 08:49:37 1994
    reader.pattern(" N ", date);
    reader.pattern(reader.next_is(' ') ? " d h:m:s Y" : "D h:m:s Y", date);
  }
  if (!reader.done() || !in_range(date)) return std::nullopt;
  const std::int64_t seconds_of_day = (std::int64_t{date.hour} * 60 + date.minute) * 60 + date.second;
  return days_from_civil(date.year, date.month, date.day) * 86400 + seconds_of_day;
}

}  // namespace tidemark::retry
