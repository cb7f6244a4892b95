/// Everything outside of the deck that a run needs: looked at before the run, all of it, changing nothing.
#pragma once
#include <string>
#include <vector>

#include "app/run_config.hpp"
#include "io/checkpoint.hpp"

namespace annulus::app {

/// What would stop a run of this deck here, one sentence each: token shards that are missing, damaged or too short, ids
/// above the vocabulary, two tokenizers, a shape that makes no model, an output directory that cannot be written.
std::vector<std::string> input_violations(const RunConfig& config);

/// Throws Refused where data.train and data.validation were made by two tokenizers.
void refuse_mixed_data(const RunConfig& config);
/// Throws Refused where the deck's data were made by another tokenizer than those that a checkpoint was trained on.
void refuse_other_tokenizer(const io::CheckpointInfo& checkpoint, const RunConfig& config);

}  // namespace annulus::app
