#include "io/keys.hpp"

#include "deck/deck.hpp"

namespace annulus::io {

void DataKeys::describe(deck::Block& block) {
  block.doc("What the model reads. `annulus tokenize` writes token shards from text.");
  block.key("train", train)
      .required()
      .doc("directory with train_shard_*.bin, or one shard; relative to where the run is started");
  block.key("validation", validation).doc("directory with val_shard_*.bin, or one shard; empty: no validation");
  block.key("sequence_length", sequence_length)
      .unit("tokens")
      .at_least(1)
      .at_most(1 << 26)
      .doc("length T of each sequence");
  block.key("format", format)
      .one_of({"llmc"})
      .later("raw", "files of bare token ids")
      .doc("llmc: shards with the 1024-byte header of llm.c");
  block.key("pack", pack)
      .one_of({"contiguous", "documents"})
      .doc("contiguous: windows of the token stream; documents: the same, with attention kept inside each document");
  block.key("restart_positions", restart_positions)
      .needs("pack", {"documents"})
      .doc("rotary positions begin at 0 in each document");
}

void CheckpointKeys::describe(deck::Block& block) {
  block.doc("When the state of a run is written. One is always written when a run ends or is stopped.");
  block.key("every_steps", every_steps).unit("steps").at_least(0).at_most(1e12).doc("0: not by steps");
  block.key("every_minutes", every_minutes).unit("minutes").at_least(0).at_most(1e6).doc("0: not by time");
  block.key("keep", keep).at_least(1).at_most(1e6).doc("the newest so many are kept, older ones are removed");
}

}  // namespace annulus::io
