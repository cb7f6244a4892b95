#include "app/program.hpp"

int main(int argc, char** argv) { return annulus::app::annulus_main(argc, argv, {}); }
