/* A tool that is put before a program by LD_PRELOAD and handles signals itself, as those do that
 * print stacks: its handlers are there before Python starts, which does not know them. SIGUSR1 has
 * it say that its handler of SIGTERM is in place. */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <unistd.h>

static void handle(int number) { (void)number; }

static void tell(int number) {
  struct sigaction action;
  (void)number;
  if (sigaction(SIGTERM, NULL, &action) == 0 && action.sa_handler == handle) {
    if (write(STDOUT_FILENO, "in place\n", 9) < 0) return;
  }
}

static void install(void) __attribute__((constructor));
static void install(void) {
  const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGTTOU};
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handle;
  for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
    sigaction(numbers[i], &action, NULL);
  }
  action.sa_handler = tell;
  sigaction(SIGUSR1, &action, NULL);
}
