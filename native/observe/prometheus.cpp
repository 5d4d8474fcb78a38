// The Prometheus text format.
#include "native/observe/prometheus.hpp"

namespace tidemark::observe {

void PrometheusText::family(std::string_view name, Type type, std::string_view help) {
  name_ = name;
  text_.append("# HELP ").append(name).append(" ").append(help);
  text_.append("\n# TYPE ").append(name).append(type == Type::Counter ? " counter\n" : " gauge\n");
}

void PrometheusText::sample(std::uint64_t value, std::initializer_list<Label> labels) {
  text_ += name_;
  char separator = '{';
  for (const Label& label : labels) {
    text_ += separator;
    text_.append(label.name).append("=\"");
    for (const char c : label.value) {
      if (c == '\n') {
        text_ += "\\n";
        continue;
      }
      if (c == '"' || c == '\\') text_ += '\\';
      text_ += c;
    }
    text_ += '"';
    separator = ',';
  }
  if (labels.size() > 0) text_ += '}';
  text_.append(" ").append(std::to_string(value)).append("\n");
}

}  // namespace tidemark::observe
