#define _GNU_SOURCE
#include "Privacy.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

// /proc/PID/environ shows the memory in which the kernel laid the variables, one after another. Moves them and clears
// that memory. Nothing else points there: the C library has already read what it needs.
static void move_environment(void) {
    if (environ == NULL || environ[0] == NULL) return;
    char *const start = environ[0];
    char *end = start;
    size_t count = 0;
    // Variables that the process itself has set are elsewhere already.
    for (; environ[count] == end; count++) end += strlen(end) + 1;
    // Saves most starts an allocation. Written before the fork, the page is shared with the guard.
    static char small[8192];
    const size_t size = (size_t)(end - start);
    char *const place = size <= sizeof small ? small : malloc(size);
    if (place == NULL) return;
    memcpy(place, start, size);
    for (size_t at = 0; at < count; at++) environ[at] = place + (environ[at] - start);
    explicit_bzero(start, size);
}

static int is_hidden;

void clinux_hide(void) {
    if (is_hidden) return;
    is_hidden = 1;
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    move_environment();
}

void clinux_show(void) {
    if (!is_hidden) return;
    is_hidden = 0;
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}
