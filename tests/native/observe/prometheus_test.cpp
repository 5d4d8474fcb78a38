// The metrics format, label values included.
#include "native/observe/prometheus.hpp"

#include "tests/catch.hpp"

using namespace tidemark::observe;

TEST_CASE("families and samples") {
  PrometheusText text;
  text.family("tidemark_streams", PrometheusText::Type::Gauge, "Streams that are held.");
  text.sample(3);
  text.family("tidemark_ended_total", PrometheusText::Type::Counter, "Ends.");
  text.sample(1, {{"state", "complete"}, {"reason", "terminal-marker"}});
  text.sample(18446744073709551615u, {{"state", "a\"b\\c\nd"}});
  CHECK(text.take() ==
        "# HELP tidemark_streams Streams that are held.\n"
        "# TYPE tidemark_streams gauge\n"
        "tidemark_streams 3\n"
        "# HELP tidemark_ended_total Ends.\n"
        "# TYPE tidemark_ended_total counter\n"
        "tidemark_ended_total{state=\"complete\",reason=\"terminal-marker\"} 1\n"
        "tidemark_ended_total{state=\"a\\\"b\\\\c\\nd\"} 18446744073709551615\n");
}
