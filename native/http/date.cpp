// Days to a date of the Gregorian calendar, without the C library's time zones.
#include "native/http/date.hpp"

#include <array>
#include <cstddef>
#include <string_view>

namespace tidemark::http {
namespace {

void append_digits(std::string& out, std::int64_t number, int digits) {
  std::string reversed;
  for (; digits > 0; --digits, number /= 10) reversed += static_cast<char>('0' + number % 10);
  out.append(reversed.rbegin(), reversed.rend());
}

struct Day {
  std::int64_t year;
  std::int64_t month;  // from 1
  std::int64_t day;    // from 1
};

// Counts in years that begin in March, so that a leap day is a year's last, and in cycles of 400 years.
Day day_of(std::int64_t days_since_1970) {
  constexpr std::int64_t kFrom0000March = 719468;
  constexpr std::int64_t kCycle = 146097;
  const std::int64_t days = days_since_1970 + kFrom0000March;
  const std::int64_t cycle = days / kCycle;
  const std::int64_t in_cycle = days % kCycle;
  const std::int64_t year = (in_cycle - in_cycle / 1460 + in_cycle / 36524 - in_cycle / 146096) / 365;
  const std::int64_t in_year = in_cycle - (365 * year + year / 4 - year / 100);
  const std::int64_t march_month = (5 * in_year + 2) / 153;
  const std::int64_t day = in_year - (153 * march_month + 2) / 5 + 1;
  const std::int64_t month = march_month < 10 ? march_month + 3 : march_month - 9;
  return {cycle * 400 + year + (month <= 2 ? 1 : 0), month, day};
}

}  // namespace

std::string format_date(std::int64_t unix_seconds) {
  constexpr std::int64_t kDay = 86400;
  constexpr std::array<std::string_view, 7> kWeekdays{"Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"};
  constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::int64_t in_day = (unix_seconds % kDay + kDay) % kDay;
  const std::int64_t days = (unix_seconds - in_day) / kDay;
  const Day day = day_of(days);
  std::string out(kWeekdays[static_cast<std::size_t>((days % 7 + 7) % 7)]);
  out += ", ";
  append_digits(out, day.day, 2);
  out.append(" ").append(kMonths[static_cast<std::size_t>(day.month - 1)]).append(" ");
  append_digits(out, day.year, 4);
  out += ' ';
  append_digits(out, in_day / 3600, 2);
  out += ':';
  append_digits(out, in_day / 60 % 60, 2);
  out += ':';
  append_digits(out, in_day % 60, 2);
  out += " GMT";
  return out;
}

}  // namespace tidemark::http
