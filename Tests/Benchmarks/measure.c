// measure COMMAND [ARGUMENT...]: runs one command and writes what it cost to descriptor 3, as one line:
// wall time in ns, user and system time in us, peak memory in KiB, and the status as wait4 gives it.
//
// Not done from Python itself: until exec a spawned child shares its parent's memory, and the kernel counts the
// parent's peak as the child's, so every small program would seem as big as the interpreter. This parent is tiny.
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

enum { resultDescriptor = 3 };

extern char **environ;

static long long nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static long long microseconds(struct timeval time) { return time.tv_sec * 1000000LL + time.tv_usec; }

int main(int argc, char **argv) {
    if (argc < 2 || fcntl(resultDescriptor, F_SETFD, FD_CLOEXEC) != 0) {
        fprintf(stderr, "usage: measure COMMAND [ARGUMENT...] 3>RESULT\n");
        return 64;
    }
    pid_t child;
    long long start = nanoseconds();
    int error = posix_spawnp(&child, argv[1], NULL, NULL, argv + 1, environ);
    if (error != 0) {
        fprintf(stderr, "measure: cannot start %s: %s\n", argv[1], strerror(error));
        return 127;
    }
    int status;
    struct rusage usage;
    if (wait4(child, &status, 0, &usage) < 0) {
        perror("measure: wait4");
        return 125;
    }
    long long end = nanoseconds();
    dprintf(resultDescriptor, "%lld %lld %lld %ld %d\n", end - start, microseconds(usage.ru_utime),
            microseconds(usage.ru_stime), usage.ru_maxrss, status);
    return 0;
}
