/// Time that passes in the order of an execution space's work.
#pragma once
#include "core/exec.hpp"

namespace annulus::comm {

/// What `exec` is given from now on runs at least so many microseconds after what it was given before. On hosts, where
/// that is over, the caller sleeps; on a GPU one of its threads does.
void pause(const Exec& exec, double microseconds);

}  // namespace annulus::comm
