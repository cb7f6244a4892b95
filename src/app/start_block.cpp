#include "app/start_block.hpp"

#include <fmt/format.h>

#include "core/kokkos_session.hpp"
#include "core/text.hpp"
#include "ops/gemm_description.hpp"

namespace annulus::app {

namespace {

std::string line(const char* name, const std::string& value) { return fmt::format("{:<12} {}\n", name, value); }

}  // namespace

std::string start_block(const RunConfig& config, Assembly& parts) {
  const auto& shape = parts.mesh().shape();
  const auto& model = parts.model();
  const auto& keys = config.model;
  std::string block;
  block += line("run", config.directory().string() + fmt::format("  (deck {})", config.hash));
  block += line("mesh", fmt::format("dp {} x ring {} x ulysses {} = {} ranks", shape.dp, shape.ring, shape.ulysses,
                                    shape.size()));
  block += line("layout", fmt::format("{}, {} rotator ({}), at most {} of {} tokens on a rank", config.attention.layout,
                                      parts.rotator().name(), parts.mesh().ring().transport(),
                                      parts.layout().max_count(), parts.layout().length()));
  block +=
      line("model", fmt::format("{}: {} layers, width {}, {}/{} heads of {}, ffn {}, vocabulary {}{}{}", keys.family,
                                keys.layers, keys.width, keys.heads, keys.kv_heads, keys.head_dim, keys.ffn_width(),
                                model.config().vocabulary, keys.tied ? ", tied" : "", keys.qk_norm ? ", QK-norm" : ""));
  block += line("parameters",
                fmt::format("{} ({})", model.parameters().count(), count_text(double(model.parameters().count()))));
  block += line("attention", fmt::format("{}, {}; RoPE theta {:g}", model.attention_path(), config.attention.mask,
                                         config.rope.theta));
  block += line("precision",
                fmt::format("{} compute, {} state", name_of(model.compute_type()), name_of(model.state_type())));
  block += line("products", ops::gemm_description());
  block += line("runs on", KokkosSession::description());
  block +=
      line("memory", fmt::format("{} a rank, saved set: {}", bytes_text(model.plan().total()), config.memory.policy));
  block += line("data", fmt::format("{} sequences of {} tokens an epoch, {} ({})", parts.training().samples_per_epoch(),
                                    parts.training().sequence_length(), config.data.pack, config.data.train));
  block += line("steps", fmt::format("{} of {} tokens (micro-batch {} x dp {} x accumulation {}), {} schedule to {:g}",
                                     config.train.steps, config.tokens_per_step(), config.train.micro_batch, shape.dp,
                                     config.accumulation(), config.schedule.shape, config.schedule.peak));
  return block;
}

}  // namespace annulus::app
