/// What `annulus bench` measures: a rate beside a yardstick of the same run.
#pragma once
#include <string>
#include <vector>

namespace annulus::app {

struct BenchRow {
  std::string name;   ///< "rms_norm forward"
  std::string type;   ///< "fp32", "fp64", "bf16"
  std::string shape;  ///< "4096 x 768 x 256"
  double seconds;     ///< of one call, median
  double rate;        ///< in `unit`
  std::string unit;   ///< "GB/s", "GFLOP/s"
  std::string yardstick;
  double yardstick_rate;  ///< in `unit`; 0: there is none here
  double ratio() const { return yardstick_rate > 0 ? rate / yardstick_rate : 0; }
};

}  // namespace annulus::app
