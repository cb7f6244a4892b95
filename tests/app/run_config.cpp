#include "app/run_config.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <random>

#include "core/error.hpp"
#include "support/places.hpp"

using namespace annulus;
using annulus::test::source_path;
using app::parse_config;
using app::RunConfig;

namespace {

const std::string least = "[data]\ntrain = \"shards\"\n";

std::string refusal(const std::vector<std::string>& sets) {
  try {
    parse_config(least, "least.toml", sets);
  } catch (const Error& error) {
    CHECK(error.code() == Exit::refused);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("run_config: accumulation is exact, or refused with the nearest values that are", "[app]") {
  const std::vector<std::string> mesh{"mesh.dp=2", "mesh.ring=3", "data.sequence_length=100", "train.micro_batch=3"};
  const auto with = [&](const char* tokens) {
    auto sets = mesh;
    sets.push_back(std::string("train.tokens_per_step=") + tokens);
    return sets;
  };
  CHECK(parse_config(least, "least.toml", with("0")).accumulation() == 1);
  CHECK(parse_config(least, "least.toml", with("0")).tokens_per_step() == 600);
  CHECK(parse_config(least, "least.toml", with("600")).accumulation() == 1);
  CHECK(parse_config(least, "least.toml", with("4200")).accumulation() == 7);
  CHECK(parse_config(least, "least.toml", with("4200")).tokens_per_step() == 4200);
  CHECK(refusal(with("4199")) ==
        "--set: train.tokens_per_step = 4199 is no multiple of micro_batch x dp x sequence_length = 3 x 2 x 100 = 600; "
        "the "
        "nearest that are: 3600 and 4200");
  CHECK(refusal(with("599")) ==
        "--set: train.tokens_per_step = 599 is no multiple of micro_batch x dp x sequence_length = 3 x 2 x 100 = 600; "
        "the "
        "nearest that is: 600");
}

TEST_CASE("run_config: rules between keys", "[app]") {
  struct Case {
    std::vector<std::string> sets;
    const char* sentence;
  };
  const Case c = GENERATE(values<Case>({
      {{"model.heads=12", "model.kv_heads=5"},
       "--set: model.kv_heads = 5 does not divide model.heads = 12; the nearest that do are 4 and 6"},
      {{"model.heads=7", "model.kv_heads=9"},
       "--set: model.kv_heads = 9 does not divide model.heads = 7; the nearest that does is 7"},
      {{"model.head_dim=33"}, "--set: model.head_dim = 33 is odd; rotary positions need pairs: 32 or 34"},
      {{"train.steps=10", "schedule.warmup=11"}, "--set: schedule.warmup = 11 is longer than train.steps = 10"},
      {{"schedule.shape=wsd"},
       "--set: schedule.shape = \"wsd\" needs a tail: schedule.decay_steps = 0 must be at least 2, below train.steps = "
       "1000, and fit after schedule.warmup = "
       "0"},
      {{"schedule.shape=wsd", "schedule.decay_steps=1"},
       "--set: schedule.shape = \"wsd\" needs a tail: schedule.decay_steps = 1 must be at least 2, below train.steps = "
       "1000, and fit after schedule.warmup = "
       "0"},
      {{"schedule.shape=wsd", "schedule.decay_steps=1000"},
       "--set: schedule.shape = \"wsd\" needs a tail: schedule.decay_steps = 1000 must be at least 2, below "
       "train.steps = 1000, and fit after schedule.warmup "
       "= "
       "0"},
      {{"schedule.shape=wsd", "schedule.decay_steps=901", "schedule.warmup=100"},
       "--set: schedule.shape = \"wsd\" needs a tail: schedule.decay_steps = 901 must be at least 2, below train.steps "
       "= 1000, and fit after schedule.warmup "
       "= "
       "100"},
      {{"schedule.shape=constant", "schedule.floor=0.2"},
       "--set: schedule.floor = 0.2 has no effect with schedule.shape = constant; leave it out, or let schedule.shape "
       "be "
       "\"cosine\" or \"wsd\""},
      {{"schedule.tail=linear"},
       "--set: schedule.tail = linear has no effect with schedule.shape = \"cosine\"; leave it out, or let "
       "schedule.shape "
       "be \"wsd\""},
      {{"data.restart_positions=true"},
       "--set: data.restart_positions = true has no effect with data.pack = \"contiguous\"; leave it out, or let "
       "data.pack "
       "be \"documents\""},
      {{"eval.every=5"},
       "--set: eval.every = 5 has no effect with data.validation = \"\"; leave it out, or give data.validation"},
      {{"data.validation=v", "eval.at=[3, 1001]"}, "--set: eval.at holds 1001, which train.steps = 1000 never reaches"},
      {{"run.name=a/b"}, "--set: run.name = \"a/b\" must be the plain name of a directory, without \"/\""},
      {{"run.name=.."}, "--set: run.name = \"..\" must be the plain name of a directory, without \"/\""},
      {{"run.name=\"\""}, "--set: run.name = \"\" must be the plain name of a directory, without \"/\""},
      {{"run.directory=\"\""}, "--set: run.directory is empty; \".\" is here"},
  }));
  CHECK(refusal(c.sets) == c.sentence);
}

TEST_CASE("run_config: what lies just inside each rule is accepted", "[app]") {
  CHECK(refusal({"train.steps=10", "schedule.warmup=10"}) == "");
  CHECK(refusal({"schedule.shape=wsd", "schedule.decay_steps=900", "schedule.warmup=100"}) == "");
  CHECK(refusal({"schedule.shape=wsd", "schedule.decay_steps=2"}) == "");
  CHECK(refusal({"data.validation=v", "eval.at=[1000]"}) == "");
  CHECK(refusal({"data.pack=documents", "data.restart_positions=true"}) == "");
  CHECK(refusal({"data.sequence_length=3", "mesh.ring=8"}) == "");  // fewer tokens than ranks
}

TEST_CASE("run_config: a mesh of another size than the program was started with is refused with both", "[app]") {
  const RunConfig config = parse_config(least, "least.toml", {"mesh.dp=2", "mesh.ring=3"});
  CHECK_NOTHROW(app::check_ranks(config, 6));
  CHECK_THROWS_AS(app::check_ranks(config, 5), Refused);
  try {
    app::check_ranks(config, 1);
  } catch (const Refused& error) {
    CHECK(std::string(error.what()) ==
          "the deck's mesh has dp x ring x ulysses = 2 x 3 x 1 = 6 ranks, but the program was started with 1; start it "
          "with "
          "mpiexec -n 6, or set mesh.dp and mesh.ring");
  }
}

TEST_CASE("run_config: the largest values that pass overflow nothing", "[app]") {
  const RunConfig config = parse_config(least, "least.toml",
                                        {"mesh.dp=32768", "mesh.ring=32768", "data.sequence_length=67108864",
                                         "train.micro_batch=1048576", "train.steps=1000000000000"});
  CHECK(config.mesh_shape().size() == 1 << 30);
  CHECK(config.tokens_per_step() == index_t(1) << 61);
  CHECK(config.accumulation() == 1);
}

TEST_CASE("run_config: the vocabulary is the data's, or the deck's where that has room for it", "[app]") {
  const auto vocabulary = [](const char* deck, index_t data) {
    return parse_config(least, "least.toml", {std::string("model.vocabulary=") + deck}).model_config(data).vocabulary;
  };
  CHECK(vocabulary("0", 257) == 257);
  CHECK(vocabulary("257", 257) == 257);
  CHECK(vocabulary("320", 257) == 320);
  CHECK(vocabulary("320", 0) == 320);
  CHECK_THROWS_AS(vocabulary("256", 257), Refused);
  CHECK_THROWS_AS(vocabulary("0", 0), Refused);
}

TEST_CASE("run_config: the resolved deck gives the same run, from a checkpoint too", "[app]") {
  for (const char* name : {"quickstart", "llama-tiny", "llama-114m", "bluscript-0.5b"}) {
    const RunConfig config = app::load_config(source_path(std::string("inputs/") + name + ".toml"));
    CHECK(parse_config(config.text, "resolved.toml").hash == config.hash);
    CHECK(parse_config("", "empty.toml", {}, config.text).hash == config.hash);
    CHECK(parse_config("", "empty.toml", {}, config.text).text == config.text);
  }
}

TEST_CASE("run_config: the decks that come with the program describe what they say", "[app]") {
  const auto parameters = [](const char* name, index_t vocabulary) {
    const auto config = app::load_config(source_path(std::string("inputs/") + name + ".toml")).model_config(vocabulary);
    const auto& m = config.model;
    const index_t block = m.width * m.head_dim * (2 * m.heads + 2 * m.kv_heads) + 3 * m.width * m.ffn_width() +
                          2 * m.width + (m.qk_norm ? 2 * m.head_dim : 0);
    return m.layers * block + config.vocabulary * m.width + m.width;
  };
  CHECK(double(parameters("llama-114m", 0)) / 1e6 > 110);
  CHECK(double(parameters("llama-114m", 0)) / 1e6 < 118);
  CHECK(double(parameters("bluscript-0.5b", 0)) / 1e9 > 0.4);
  CHECK(double(parameters("bluscript-0.5b", 0)) / 1e9 < 0.6);
  CHECK(double(parameters("quickstart", 257)) / 1e6 > 1);
  CHECK(double(parameters("quickstart", 257)) / 1e6 < 2);
}

TEST_CASE("run_config: a deck that is not there is refused by name", "[app]") {
  for (const char* file : {"no/such/deck.toml", "/", ""}) CHECK_THROWS_AS(app::load_config(file), Refused);
}

TEST_CASE("run_config: thousands of damaged decks are read or refused, and never more than that", "[app]") {
  const std::string whole = app::load_config(source_path("inputs/quickstart.toml")).text;
  std::mt19937 random(5);
  int read = 0, refused = 0;
  for (int n = 0; n < 2000; ++n) {
    std::string damaged = whole;
    for (auto m = 1 + random() % 2; m > 0; --m) {
      const std::size_t at = random() % damaged.size();
      switch (random() % 3) {
        case 0:
          damaged[at] = "0123456789-.\"e"[random() % 14];
          break;
        case 1:
          damaged.insert(at, 1, "0123456789-.\"e"[random() % 14]);
          break;
        default:
          damaged.erase(at, 1 + random() % 6);
          break;
      }
    }
    CAPTURE(damaged);
    try {
      const RunConfig config = parse_config(damaged, "damaged.toml");
      REQUIRE(parse_config(config.text, "again.toml").hash == config.hash);
      REQUIRE(config.accumulation() * config.train.micro_batch * config.mesh.dp * config.data.sequence_length ==
              config.tokens_per_step());
      ++read;
    } catch (const Refused&) {
      ++refused;
    }
  }
  CHECK(read > 50);
  CHECK(refused > 200);
}
