/// The manual page of a deck's keys, written from what the rooms describe.
#pragma once
#include <string>

#include "deck/deck.hpp"

namespace annulus::deck {

/// Markdown: one section for each block with a table of its keys.
std::string reference(const Deck& deck);

}  // namespace annulus::deck
