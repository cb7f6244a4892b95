/// Test cases that failed on some rank, as all ranks know it.
#pragma once

namespace annulus::test {

int failed_cases();

}  // namespace annulus::test
