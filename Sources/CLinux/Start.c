#define _GNU_SOURCE
#include "Start.h"
#include "Guard.h"
#include "Jobserver.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Work that has to happen before the Swift runtime's own constructors, in the order of their numbers. A program that
// links this and is not called flowrun gets no guard.

// MARK: Arguments

static struct {
    int count;
    char **words;
} arguments;

char *const *clinux_arguments(int *count) {
    *count = arguments.count;
    return arguments.words;
}

// The runtime's own versions of these two read every line of /proc/self/maps before main, a twentieth of a start. Where
// the program is linked statically, theirs is left out for ours.
char **_swift_stdlib_getUnsafeArgvArgc(int *count) {
    *count = arguments.count;
    return arguments.words;
}

void _swift_stdlib_overrideUnsafeArgvArgc(char **words, int count) {
    arguments.count = count;
    arguments.words = words;
}

// MARK: The guard

static const char *const without_run[] = {
    "check", "plan", "graph", "list", "show", "ctl", "why", "runs", "replay", "init", "explain", "schema",
    "completion", "__complete", "--version", "--help", "-h", "--dry-run", "-n", "--list", "-l",
};

int clinux_seems_to_run(int count, char *const *words) {
    if (count < 1) return 0;
    const char *slash = strrchr(words[0], '/');
    if (strcmp(slash != NULL ? slash + 1 : words[0], "flowrun") != 0) return 0;
    for (int at = 1; at < count && strcmp(words[at], "--") != 0; at++) {
        for (size_t other = 0; other < sizeof without_run / sizeof *without_run; other++) {
            if (strcmp(words[at], without_run[other]) == 0) return 0;
        }
    }
    return 1;
}

static int has_standard_streams(void) {
    for (int number = STDIN_FILENO; number <= STDERR_FILENO; number++) {
        if (fcntl(number, F_GETFD) < 0) return 0;
    }
    return 1;
}

// Swift itself gets the arguments through /proc, which need not be there. The C library hands them to constructors.
__attribute__((constructor(101))) static void begin(int count, char **words) {
    arguments.count = count;
    arguments.words = words;
    // Memory that has been touched before the fork is copied page by page when either process writes, so that a guard
    // made here costs half of one made in main. The lowest descriptors are for the standard streams.
    if (!clinux_seems_to_run(count, words) || !has_standard_streams()) return;
    clinux_find_jobserver();
    clinux_enter_guard();
}

// MARK: The Swift runtime

// The runtime looks in eight places for a debugger to start when the program crashes, and aborts if there is no /proc
// to give it its own path. This variable keeps it from both.
static const char *const backtrace = "SWIFT_BACKTRACE";
static int has_set_backtrace;

__attribute__((constructor(102))) static void do_without_backtraces(void) {
    if (getenv(backtrace) != NULL) return;
    has_set_backtrace = setenv(backtrace, "enable=no,swift-backtrace=/", 1) == 0;
}

// After the runtime's own constructors: no step sees it.
__attribute__((constructor)) static void forget_backtraces(void) {
    if (has_set_backtrace) unsetenv(backtrace);
}
