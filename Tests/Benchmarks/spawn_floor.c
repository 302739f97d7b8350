// spawn_floor COUNT JOBS COMMAND [ARGUMENT...]: runs a command COUNT times, JOBS at once, and does nothing else:
// what running processes costs before anybody plans, captures or logs anything. Exit 1 if any of them failed.
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: spawn_floor COUNT JOBS COMMAND [ARGUMENT...]\n");
        return 64;
    }
    long waiting = atol(argv[1]);
    long jobs = atol(argv[2]);
    long running = 0;
    int failed = 0;
    while (waiting > 0 || running > 0) {
        while (waiting > 0 && running < jobs) {
            pid_t child;
            int error = posix_spawnp(&child, argv[3], NULL, NULL, argv + 3, environ);
            if (error != 0) {
                fprintf(stderr, "spawn_floor: cannot start %s: %s\n", argv[3], strerror(error));
                return 127;
            }
            waiting -= 1;
            running += 1;
        }
        int status;
        if (waitpid(-1, &status, 0) < 0) {
            perror("spawn_floor: waitpid");
            return 125;
        }
        running -= 1;
        failed |= status != 0;
    }
    return failed;
}
