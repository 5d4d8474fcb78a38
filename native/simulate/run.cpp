// The program's second command.
#include "native/simulate/run.hpp"

#include <cstdio>

#include "native/downstream/server.hpp"
#include "native/loop/loop.hpp"
#include "native/simulate/simulated_upstream.hpp"

namespace tidemark::simulate {
namespace {

int refuse(int status, const std::string& message) {
  std::fprintf(stderr, "tidemark simulate: %s\n", message.c_str());
  return status;
}

}  // namespace

int run(const RunOptions& options) {
  std::vector<Fault> faults;
  for (const std::string& spec : options.faults) {
    const auto parsed = parse_faults(spec);
    if (!parsed) return refuse(2, "--fault: " + parsed.error());
    faults.insert(faults.end(), parsed.value().begin(), parsed.value().end());
  }
  std::optional<dialect::Dialect> spoken;
  if (options.dialect) {
    spoken = dialect::from_name(*options.dialect);
    if (!spoken) {
      return refuse(2,
                    "--dialect '" + *options.dialect +
                        "': allowed: openai-chat, openai-responses, anthropic-messages, gemini, seq-delta, ai-sdk-ui");
    }
  }
  Recording recording;
  if (options.recording) {
    auto loaded = Recording::load(*options.recording, spoken);
    if (!loaded) return refuse(2, "--" + loaded.error());
    recording = std::move(loaded).value();
  }

  loop::Loop loop;
  SimulatedUpstream upstream(loop, std::move(recording), std::move(faults), options.interval_ms);
  downstream::Server server(loop, downstream::ServerLimits{}, upstream);
  if (const std::string error = server.listen(options.host, options.port); !error.empty()) return refuse(1, error);
  loop.on_termination([&loop] { loop.stop(); });
  std::printf("tidemark listening on http://%s:%u\n", options.host.c_str(), static_cast<unsigned>(server.port()));
  std::fflush(stdout);
  loop.run();
  return 0;
}

}  // namespace tidemark::simulate
