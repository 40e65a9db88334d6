/* face/main.c - the program ein: libein, and a process around it. */
#include "libein.h"

int main(int argc, char **argv) {
  return ein_main(argc, argv);
}
