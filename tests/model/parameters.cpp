#include "model/parameters.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <set>
#include <stdexcept>

#include "core/error.hpp"
#include "model/model.hpp"

using namespace annulus;
using namespace annulus::model;

namespace {

ModelConfig odd_model(bool tied, bool qk_norm) {
  ModelConfig config;
  config.model = {
      .layers = 3, .width = 36, .heads = 6, .kv_heads = 2, .head_dim = 10, .ffn = 50, .tied = tied, .qk_norm = qk_norm};
  config.vocabulary = 77;
  config.sequence_length = 97;
  return config;
}

constexpr index_t grain = 128;  // 256 B of the narrowest type

}  // namespace

TEST_CASE("parameters: every tensor has its shape, and all together the model's count", "[model]") {
  const bool tied = GENERATE(false, true), qk_norm = GENERATE(false, true);
  const ParameterTable table = parameter_table(odd_model(tied, qk_norm), 3);

  const index_t layer = 36 * (60 + 20 + 20) + 36 * 60 + 3 * 36 * 50 + 2 * 36 + (qk_norm ? 2 * 10 : 0);
  CHECK(table.count() == 3 * layer + 36 + (tied ? 1 : 2) * 77 * 36);
  CHECK(table.tensor("layers.2.attention.k.weight").shape == std::vector<index_t>{20, 36});
  CHECK(table.tensor("layers.0.ffn.down.weight").shape == std::vector<index_t>{36, 50});
  CHECK(table.tensor("embedding.weight").shape == std::vector<index_t>{77, 36});
  CHECK_THROWS_AS(table.tensor("layers.3.ffn.down.weight"), std::out_of_range);
  if (tied) CHECK_THROWS_AS(table.tensor("head.weight"), std::out_of_range);
  for (const Tensor& tensor : table.tensors()) {
    index_t elements = 1;
    for (const index_t extent : tensor.shape) elements *= extent;
    CHECK(tensor.count == elements);
    CHECK(tensor.decays == (tensor.shape.size() == 2));
  }
}

TEST_CASE("parameters: tensors lie in their buckets, apart, and shards tile the arena for any world", "[model]") {
  const bool tied = GENERATE(false, true);
  const int world = GENERATE(1, 2, 3, 4, 7);
  const ParameterTable table = parameter_table(odd_model(tied, true), world);

  index_t end = 0;
  for (const Tensor& tensor : table.tensors()) {
    const Stretch& bucket = table.buckets()[tensor.bucket];
    CHECK(tensor.offset >= end);
    CHECK((tensor.offset >= bucket.begin && tensor.offset + tensor.count <= bucket.end()));
    end = tensor.offset + tensor.count;
  }
  CHECK(table.size() == table.buckets().back().end());
  CHECK(table.size() >= end);
  CHECK(table.shard_size() * world == table.size());

  index_t begin = 0, packed = 0;
  for (int b = 0; b < static_cast<int>(table.buckets().size()); ++b) {
    CHECK(table.shard_offset(b) == packed);
    for (int rank = 0; rank < world; ++rank) {
      const Stretch own = table.owned(rank, b);
      CHECK(own.begin == begin);
      CHECK(own.begin % grain == 0);
      begin = own.end();
    }
    packed += table.owned(0, b).count;
  }
  CHECK(begin == table.size());
}

TEST_CASE("parameters: fused projections follow each other without a gap; what is not fused is aligned", "[model]") {
  const ParameterTable table = parameter_table(odd_model(false, true), 2);
  const auto follows = [&](const char* second, const char* first) {
    const Tensor& before = table.tensor(first);
    return table.tensor(second).offset == before.offset + before.count;
  };
  CHECK(follows("layers.1.attention.k.weight", "layers.1.attention.q.weight"));
  CHECK(follows("layers.1.attention.v.weight", "layers.1.attention.k.weight"));
  CHECK(follows("layers.1.ffn.up.weight", "layers.1.ffn.gate.weight"));
  const std::set<std::string> fused{"k", "v", "up"};
  for (const Tensor& tensor : table.tensors()) {
    const std::size_t dot = tensor.name.rfind('.'), before = tensor.name.rfind('.', dot - 1);
    if (!fused.contains(tensor.name.substr(before + 1, dot - before - 1))) CHECK(tensor.offset % grain == 0);
  }
}

TEST_CASE("parameters: order is the reverse of gradient completion, a tied embedding last", "[model]") {
  const bool tied = GENERATE(false, true);
  const ParameterTable table = parameter_table(odd_model(tied, true), 2);
  const auto bucket = [&](const char* name) { return table.tensor(name).bucket; };
  const int first_layer = tied ? 0 : 1;
  CHECK(bucket("layers.0.attention.q.weight") == first_layer);
  CHECK(bucket("layers.2.ffn.down.weight") == first_layer + 2);
  CHECK(bucket("final_norm.gain") == first_layer + 3);
  CHECK(bucket("embedding.weight") == (tied ? 4 : 0));
  if (!tied) CHECK(bucket("head.weight") == bucket("final_norm.gain"));
}

TEST_CASE("parameters: streams of random numbers differ and do not depend on the world", "[model]") {
  const ParameterTable one = parameter_table(odd_model(true, true), 1),
                       four = parameter_table(odd_model(true, true), 4);
  std::set<std::uint32_t> streams;
  for (const Tensor& tensor : one.tensors()) {
    CHECK(four.tensor(tensor.name).stream == tensor.stream);
    streams.insert(tensor.stream);
  }
  CHECK(streams.size() == one.tensors().size());
}

TEST_CASE("parameters: shapes that make no model are refused", "[model]") {
  ModelConfig config = odd_model(true, true);
  config.model.kv_heads = 4;
  CHECK_THROWS_AS(parameter_table(config, 1), Refused);
  config = odd_model(true, true);
  config.model.head_dim = 9;
  CHECK_THROWS_AS(parameter_table(config, 1), Refused);
  config = odd_model(true, true);
  config.vocabulary = 0;
  CHECK_THROWS_AS(parameter_table(config, 1), Refused);
}
