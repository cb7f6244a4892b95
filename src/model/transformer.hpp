/// The Llama family (Touvron et al. 2023; QK-norm as in Qwen3, Yang et al. 2025) on one rank of a mesh: pre-norm blocks
/// of ring attention and SwiGLU, a chunked loss, and gradients by hand. Block by block, with n = norm(x):
///   mid = x + attention(n Wqkv^T) Wo^T;   x' = mid + swiglu(norm(mid) Wgu^T) Wd^T
/// Each step is a file: accumulate, block_forward, block_backward, update, evaluate, arenas.
#pragma once
#include <memory>
#include <vector>

#include "cp/ring_attention.hpp"
#include "model/batch_upload.hpp"
#include "model/buffers.hpp"
#include "model/memory.hpp"
#include "model/model.hpp"
#include "model/numbers_download.hpp"
#include "model/weights.hpp"
#include "ops/qk_norm_rope.hpp"

namespace annulus::model {

template <class T>
class Transformer final : public Model {
 public:
  using A = Accum<T>;

  Transformer(const ModelConfig& config, const Place& place);

  const ModelConfig& config() const override { return config_; }
  const ParameterTable& parameters() const override { return table_; }
  const MemoryPlan& plan() const override { return buffers_.plan; }
  const char* attention_path() const override { return kernel_->name(); }
  Scalar state_type() const override;
  Scalar compute_type() const override;

  void initialise(std::uint64_t seed) override;
  void accumulate(const cp::LocalBatch& batch, double weight, bool first, bool last) override;
  StepTicket update(const Update& update) override;
  StepNumbers gradients_only() override;
  void evaluate(const cp::LocalBatch& batch, std::span<double> nll) override;
  void logits(const cp::LocalBatch& batch, index_t local_token, std::span<double> logits) override;
  void read(Arena arena, Stretch stretch, std::span<std::byte> out) const override;
  void write(Arena arena, Stretch stretch, std::span<const std::byte> in) override;
  void refresh_compute() override;

 private:
  struct SavedViews {
    Matrix<T> x, qkv, attention;
    Vector<A> lse;
    Matrix<T> mid, gate_up;
  };
  /// A part of this rank's shard in which all or no parameters decay, and its place in the packed shard.
  struct OwnedStretch {
    Stretch arena;
    index_t packed;
    bool decays;
  };

  const Exec& exec() const { return place_.streams.compute(); }

  // accumulate.cpp
  void upload(const cp::LocalBatch& batch);
  void zero_what_is_added_to();
  void forward();
  void loss(double weight, Into into);
  void embedding_backward();
  void reduce(int bucket);

  // block_forward.cpp, block_backward.cpp
  void block_forward(index_t layer);
  void attention_forward(index_t layer);
  void feed_forward(index_t layer, Matrix<T> branch);
  void block_backward(index_t layer, Into into);
  void feed_forward_backward(index_t layer, Into into, Matrix<const T> dbranch, Matrix<T> dnormalised);
  void attention_backward(index_t layer, Into into, Matrix<const T> dbranch, Matrix<T> dnormalised);
  void head_gradients(index_t layer, const A* dq, const cp::KvBlock<const A>& dkv, Matrix<T> dqkv);

  /// Fills q and this rank's own block of keys and values from a layer's saved projection.
  void form_heads(index_t layer, Matrix<T> q);
  typename ops::QkNormRope<T>::Inputs head_inputs(index_t layer, index_t row) const;
  cp::KvBlock<T> own_block() const;

  typename cp::RingAttention<T>::Batch ring_batch() const;
  typename cp::RingAttention<T>::Scratch ring_scratch(const typename Buffers<T>::RingScratch& slots) const;

  // views of the current batch's size
  Matrix<T> by_token(const Slot<T>& slot, index_t columns) const {
    return memory_.matrix(slot, batch_.size(), columns);
  }
  SavedViews saved(index_t layer) const;
  Matrix<T> residual(index_t layer) const {  ///< the stream before a layer, and after the last one
    return by_token(layer < layers() ? buffers_.layers[layer].x : buffers_.last_x, width());
  }
  Matrix<T> residual_gradient() const { return by_token(buffers_.micro_batch.dx, width()); }
  Matrix<T> normalised() const { return by_token(buffers_.micro_batch.normalised, width()); }
  Vector<A> rstd() const { return memory_.vector(buffers_.micro_batch.rstd, batch_.size()); }
  index_t layers() const { return config_.model.layers; }
  index_t width() const { return config_.model.width; }
  index_t ffn() const { return config_.model.ffn_width(); }
  index_t q_width() const { return config_.model.heads * config_.model.head_dim; }

  // update.cpp
  void sum_over_ranks();
  StepTicket numbers();
  void gather();

  // arenas.cpp
  Vector<A> master(const OwnedStretch& part) const;
  index_t packed(Stretch stretch) const;  ///< where a stretch of this rank's shard lies in its packed form
  Kokkos::View<std::byte*, Exec::memory_space> bytes_of(Arena arena, Stretch stretch) const;

  ModelConfig config_;
  Place place_;
  ParameterTable table_;
  Buffers<T> buffers_;
  Memory memory_;
  Vector<T> compute_;
  Vector<A> master_, gradient_, m_, v_;
  Vector<double> squared_norm_, nll_sum_;
  Matrix<const A> cosines_, sines_;
  Weights<const T> weights_;
  Weights<A> gradients_;
  std::unique_ptr<ops::Attention<T>> kernel_;
  cp::RingAttention<T> ring_attention_;
  std::vector<OwnedStretch> owned_;
  std::vector<Stretch> gains_;  ///< where they lie in the arenas, other ranks' too
  BatchUpload upload_;
  NumbersDownload download_;
  DeviceBatch batch_;
  std::vector<comm::Ticket> reductions_;  ///< of this step's buckets
};

}  // namespace annulus::model
