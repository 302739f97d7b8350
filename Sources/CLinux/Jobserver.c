#define _GNU_SOURCE
#include "Jobserver.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum clinux_jobserver found;
static int reading = -1, writing = -1;

static struct tokens {
    unsigned count;
    unsigned char bytes[CLINUX_MOST_TOKENS];
} own, *tokens = &own;

// Opens a file description of its own, so that not to wait is a matter of this process alone.
static int reopen(int number, int flags) {
    struct stat status;
    if (number < 0 || fstat(number, &status) != 0 || !(S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode))) return -1;
    char own_path[32];
    snprintf(own_path, sizeof own_path, "/proc/self/fd/%d", number);
    return open(own_path, flags | O_NONBLOCK | O_CLOEXEC);
}

static int open_fifo(const char *text) {
    char path[PATH_MAX];
    const size_t length = strcspn(text, " ");
    if (length >= sizeof path) return -1;
    memcpy(path, text, length);
    path[length] = 0;
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISFIFO(status.st_mode)) return -1;
    // Open for both, it never ends.
    return open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
}

void clinux_find_jobserver(void) {
    const char *flags = getenv("MAKEFLAGS");
    if (flags == NULL) return;
    static const char *const words[] = {"--jobserver-auth=", "--jobserver-fds="};
    const char *variables = strncmp(flags, "-- ", 3) == 0 ? flags : strstr(flags, " -- "), *last = NULL;
    for (int at = 0; at < 2; at++) {
        // The last one counts.
        for (const char *next = flags; (next = strstr(next, words[at])) != NULL;) {
            next += strlen(words[at]);
            if (variables == NULL || next < variables) last = next > last ? next : last;
        }
    }
    if (last == NULL) return;
    found = CLINUX_CLOSED_JOBSERVER;
    int read_end, write_end;
    if (strncmp(last, "fifo:", 5) == 0) {
        reading = writing = open_fifo(last + 5);
    } else if (sscanf(last, "%d,%d", &read_end, &write_end) == 2) {
        reading = reopen(read_end, O_RDONLY);
        writing = reading < 0 ? -1 : reopen(write_end, O_WRONLY);
        if (reading >= 0 && writing < 0) {
            close(reading);
            reading = -1;
        }
    }
    if (reading >= 0 && writing >= 0) found = CLINUX_JOBSERVER;
}

enum clinux_jobserver clinux_jobserver(void) { return found; }

int clinux_jobserver_reading(void) { return reading; }

int clinux_take_token(void) {
    if (found != CLINUX_JOBSERVER || tokens->count >= CLINUX_MOST_TOKENS) return 0;
    unsigned char byte;
    if (read(reading, &byte, 1) != 1) return 0;
    tokens->bytes[tokens->count] = byte;
    __atomic_store_n(&tokens->count, tokens->count + 1, __ATOMIC_RELEASE);
    return 1;
}

int clinux_give_token(void) {
    if (tokens->count == 0) return 1;
    // If this process is killed in between, one too few is better than one too many.
    const unsigned left = tokens->count - 1;
    __atomic_store_n(&tokens->count, left, __ATOMIC_RELEASE);
    if (write(writing, &tokens->bytes[left], 1) == 1) return 1;
    __atomic_store_n(&tokens->count, left + 1, __ATOMIC_RELEASE);
    return 0;
}

unsigned clinux_token_count(void) { return __atomic_load_n(&tokens->count, __ATOMIC_ACQUIRE); }

unsigned clinux_tokens_size(void) { return found == CLINUX_JOBSERVER ? sizeof own : 0; }

void clinux_share_tokens(void *memory) {
    tokens = found == CLINUX_JOBSERVER && memory != NULL ? memory : &own;
}

void clinux_return_tokens(void) {
    while (clinux_token_count() > 0 && clinux_give_token()) {}
}

void clinux_move_jobserver(int number) {
    if (writing >= 0 && dup2(writing, number) == number) writing = number;
}
