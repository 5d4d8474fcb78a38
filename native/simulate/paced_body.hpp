// The body of a streamed answer: its plan, one frame an interval.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "core/base/time.hpp"
#include "native/downstream/server.hpp"
#include "native/loop/loop.hpp"
#include "native/simulate/plan.hpp"

namespace tidemark::simulate {

class PacedBody final : public downstream::BodySource {
 public:
  PacedBody(loop::Loop& loop, const std::shared_ptr<downstream::Exchange>& exchange, Plan plan, TimeMs interval_ms);

  downstream::Pull pull(std::string& out, std::size_t max) override;

 private:
  downstream::Pull end();
  void wait(TimeMs until, std::function<void()> then);
  void wait_for_next(TimeMs until);
  void reset_when_sent();

  loop::Loop& loop_;
  std::weak_ptr<downstream::Exchange> exchange_;
  Plan plan_;
  TimeMs interval_ms_;
  loop::Timer timer_;
  std::size_t next_ = 0;
  std::size_t offset_ = 0;
  bool waiting_ = false;
};

}  // namespace tidemark::simulate
