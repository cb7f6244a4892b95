#include <hdf5.h>
#include <sys/mount.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstring>

#include "io/checkpoint_run.hpp"

using namespace annulus;
using namespace annulus::io;
using namespace annulus::test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// HDF5 as its users have it, beside our own layer.
template <class Edit>
void edit(const std::filesystem::path& path, const Edit& edit) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  REQUIRE(file >= 0);
  edit(file);
  REQUIRE(H5Fclose(file) >= 0);
}

std::uint64_t offset_of(const std::filesystem::path& path, const std::string& dataset) {
  std::uint64_t offset = 0;
  edit(path, [&](hid_t file) {
    const hid_t id = H5Dopen2(file, dataset.c_str(), H5P_DEFAULT);
    offset = H5Dget_offset(id);
    H5Dclose(id);
  });
  return offset;
}

void flip(const std::filesystem::path& path, std::uint64_t byte, int bit = 0) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(byte));
  const char flipped = static_cast<char>(file.get() ^ (1 << bit));
  file.seekp(static_cast<std::streamoff>(byte));
  file.put(flipped);
}

void set_number(hid_t object, const char* name, std::int64_t value) {
  const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
  H5Awrite(attribute, H5T_NATIVE_INT64, &value);
  H5Aclose(attribute);
}

/// What reading step 2 is refused with, the same on all ranks; rank 0 warns with it, and step 1 is resumed instead.
std::string refusal_of_newest(const CheckpointRun& run, Scalar compute = Scalar::fp32) {
  std::string reason = "nothing was refused";
  FakeModel model(ranks(), rank(), compute);
  try {
    read_checkpoint(run.file(2), model, world());
  } catch (const BadCheckpoint& bad) {
    reason = bad.what();
  }
  CHECK(reason == Agreement(world()).of_first(reason));
  FakeModel resumed(ranks(), rank(), compute);
  std::optional<CheckpointInfo> info;
  const std::string warning = stderr_of([&] { info = resume_newest(run.path(), resumed, world()); });
  CHECK(warning == (rank() == 0 ? "warning: " + reason + "\n" : ""));
  REQUIRE(info);
  CHECK(info->counters.step == 1);
  CHECK(resumed.holds(1));
  return reason;
}

}  // namespace

TEST_CASE("checkpoint: one flipped bit in any tensor is refused by its name, and the previous one used", "[io]") {
  const Scalar compute = GENERATE(Scalar::fp32, Scalar::bf16);
  const CheckpointRun run;
  run.write(1, world(), compute);
  run.write(2, world(), compute);
  for (const std::string group : {"params", "optim/m", "optim/v", "optim/master"})
    for (const std::string tensor : {"layers.0.norm", "embedding", "layers.0.attention.k"}) {
      if (group == "optim/master" && compute == Scalar::fp32) continue;  // params are the master
      const std::string dataset = group + "/" + tensor;
      const auto flip_it = [&] { flip(run.file(2), offset_of(run.file(2), dataset) + 1, 6); };
      run.damage(flip_it);
      CHECK_THAT(refusal_of_newest(run, compute), ContainsSubstring("its " + dataset + " does not have the hash"));
      run.damage(flip_it);  // whole again
    }
}

TEST_CASE("checkpoint: one that lost its end, wherever, is refused, and the previous one used", "[io]") {
  const CheckpointRun run;
  run.write(1);
  run.write(2);
  for (const double kept : {0.0, 0.001, 0.1, 0.5, 0.9, 0.999999}) {
    std::string whole;
    run.damage([&] {
      whole = content(run.file(2));
      put(run.file(2), whole.substr(0, static_cast<std::size_t>(kept * static_cast<double>(whole.size()))));
    });
    CHECK_THAT(refusal_of_newest(run), ContainsSubstring(run.file(2).string() + " cannot be used: cannot open"));
    run.damage([&] { put(run.file(2), whole); });
  }
  FakeModel model(ranks(), rank());
  CHECK_NOTHROW(read_checkpoint(run.file(2), model, world()));
}

TEST_CASE("checkpoint: one that is not complete, not ours, or not of this model is refused with the reason", "[io]") {
  const CheckpointRun run;
  run.write(1);
  run.write(2);
  const std::string whole = content(run.file(2));
  const std::vector<std::pair<std::string, void (*)(hid_t)>> damages{
      {"it is not complete", [](hid_t file) { H5Adelete(file, "complete"); }},
      {"it is not complete", [](hid_t file) { set_number(file, "complete", 0); }},
      {"it has format version 2; this program reads 1 to 1", [](hid_t file) { set_number(file, "format_version", 2); }},
      {"it has format version 0", [](hid_t file) { set_number(file, "format_version", 0); }},
      {"no checkpoint of Annulus", [](hid_t file) { H5Adelete(file, "format"); }},
      {"attribute step", [](hid_t file) { H5Adelete_by_name(file, "counters", "step", H5P_DEFAULT); }},
      {"open group run", [](hid_t file) { H5Ldelete(file, "run", H5P_DEFAULT); }},
      {"no tensor head", [](hid_t file) { H5Ldelete(file, "params/head", H5P_DEFAULT); }},
      {"no tensor optim/v/head", [](hid_t file) { H5Ldelete(file, "optim/v/head", H5P_DEFAULT); }},
      {"no tensor optim/m/", [](hid_t file) { H5Ldelete(file, "optim/m", H5P_DEFAULT); }},
      {"no tensor norm", [](hid_t f) { H5Lmove(f, "params/norm", f, "params/nrom", H5P_DEFAULT, H5P_DEFAULT); }},
      {"has a tensor copy, which the model does not have",
       [](hid_t file) { H5Lcreate_hard(file, "params/norm", file, "params/copy", H5P_DEFAULT, H5P_DEFAULT); }},
      {"head has the shape (67), the model's (101, 67)",
       [](hid_t file) {
         H5Ldelete(file, "params/head", H5P_DEFAULT);
         H5Lcreate_hard(file, "params/norm", file, "params/head", H5P_DEFAULT, H5P_DEFAULT);
       }},
      {"attribute hash", [](hid_t file) { H5Adelete_by_name(file, "optim/m/norm", "hash", H5P_DEFAULT); }},
  };
  for (const auto& [reason, damage] : damages) {
    run.damage([&, &damage = damage] { edit(put(run.file(2), whole), damage); });
    CHECK_THAT(refusal_of_newest(run), ContainsSubstring(reason) && ContainsSubstring(run.file(2).string()));
  }
}

TEST_CASE("checkpoint: another state type, a text file and a missing file are refused", "[io]") {
  const CheckpointRun run;
  run.write(1);
  FakeModel wide(ranks(), rank(), Scalar::fp64, Scalar::fp64), model(ranks(), rank());
  const auto reason = [&](FakeModel& into, index_t step) -> std::string {
    try {
      read_checkpoint(run.file(step), into, world());
    } catch (const BadCheckpoint& bad) {
      return bad.what();
    }
    return "nothing was refused";
  };
  CHECK_THAT(reason(wide, 1), ContainsSubstring("is fp32, this run's is fp64"));
  CHECK_THAT(reason(model, 3), ContainsSubstring("step_000000003.h5 cannot be used"));
  run.damage([&] { put(run.file(2), "a text"); });
  CHECK_THAT(refusal_of_newest(run), ContainsSubstring("cannot open"));
}

TEST_CASE("checkpoint: a run with none resumes nothing, one with only damaged ones is refused", "[io]") {
  const CheckpointRun run;
  FakeModel model(ranks(), rank());
  CHECK(!resume_newest(run.path(), model, world()));
  CHECK(!resume_newest(run.path() / "absent", model, world()));
  run.damage([&] {
    std::filesystem::create_directories(run.file(2).parent_path());
    put(run.file(2), "a text");
    put(run.file(5), "");
  });
  stderr_of([&] { CHECK_THROWS_AS(resume_newest(run.path(), model, world()), BadCheckpoint); });
}

TEST_CASE("checkpoint: what was left half-written is ignored, and gone after the next one", "[io]") {
  const CheckpointRun run;
  run.write(1);
  const auto left = run.file(2).string() + ".partial";
  run.damage([&] { put(left, content(run.file(1)).substr(0, 5000)); });
  FakeModel model(ranks(), rank());
  const auto info = resume_newest(run.path(), model, world());
  CHECK((info && info->counters.step == 1));
  run.write(3);
  CHECK(!std::filesystem::exists(left));
}

TEST_CASE("checkpoint: the newest complete ones are kept, and damaged ones are not counted", "[io]") {
  const CheckpointRun run;
  for (const index_t step : {0, 1, 2, 10}) run.write(step);
  run.damage([&] { edit(run.file(10), [](hid_t file) { H5Adelete(file, "complete"); }); });
  run.write(11, world(), Scalar::fp32, Scalar::fp32, 2);
  const auto exists = [&](index_t step) { return std::filesystem::exists(run.file(step)); };
  CHECK((exists(11) && exists(10) && exists(2) && !exists(1) && !exists(0)));
}

TEST_CASE("checkpoint: a write that fails on one rank is an error on all, and the older ones stay", "[io]") {
  const CheckpointRun run;
  run.write(1);
  const int failing = GENERATE(0, 1, 2, 3), after = GENERATE(0, 5);
  if (failing >= ranks()) return;
  FakeModel model(ranks(), rank());
  model.reads_until_failure = rank() == failing ? after : -1;
  std::string reason = "nothing failed";
  try {
    write_checkpoint(run.path(), model.fill(2), CheckpointRun::info(2), 1, world());
  } catch (const Error& error) {
    CHECK(error.code() == Exit::internal);
    reason = error.what();
  }
  CHECK(reason == "writing checkpoint " + run.file(2).string() + " failed: the device is gone");
  CHECK(!std::filesystem::exists(run.file(2)));
  CHECK(!std::filesystem::exists(run.file(2).string() + ".partial"));
  const auto info = resume_newest(run.path(), model, world());
  CHECK((info && info->counters.step == 1));
}

TEST_CASE("checkpoint: a full disk is an error before anything is written", "[io]") {
  const CheckpointRun run;
  std::string reason;
  run.damage([&] {
    if (mount("tmpfs", run.path().c_str(), "tmpfs", 0, "size=1m") != 0) reason = std::strerror(errno);
  });
  reason = Agreement(world()).of_first(reason);
  if (!reason.empty()) SKIP("cannot mount a small file system: " << reason);
  std::string failure = "nothing failed";
  try {
    run.write(1);
  } catch (const Error& error) {
    failure = error.what();
  }
  CHECK_THAT(failure, ContainsSubstring("it takes 4.") && ContainsSubstring("1.00 MiB are free in"));
  run.damage([&] { umount2(run.path().c_str(), MNT_DETACH); });
}
