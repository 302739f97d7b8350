#define _GNU_SOURCE
#include "Cgroup.h"
#include "Folder.h"
#include "Guard.h"
#include "Jobserver.h"
#include "Start.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

// MARK: Ending marked processes

static const uint64_t command_bits = ((uint64_t)1 << CLINUX_MARK_RUN) - 1;

// Returns 1, 0, or -ESRCH if the process is gone.
static int is_marked(pid_t pid, uint64_t mark) {
    uint64_t found;
    const int known = clinux_mark(pid, &found);
    if (known != 1) return known == -ESRCH ? known : 0;
    return found >> CLINUX_MARK_RUN == mark >> CLINUX_MARK_RUN && (found & command_bits) != 0;
}

// A process whose first thread has ended looks like a zombie while its other threads go on.
static int is_alive(pid_t pid) {
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return errno != ENOENT;
    ssize_t count = read(file, line, sizeof line - 1);
    close(file);
    if (count <= 0) return 0;
    line[count] = 0;
    // pid (name) state … threads: the name may hold anything, its last parenthesis ends it.
    char *end = strrchr(line, ')');
    char state;
    long threads;
    if (end == NULL ||
        sscanf(end, ") %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %ld", &state, &threads) != 2)
        return 1;
    return (state != 'Z' && state != 'X') || threads > 1;
}

static void end_process(pid_t pid, uint64_t mark, pid_t spared) {
    // Kills the whole group at once: it may be forking. It has this process in it and is neither flowrun's nor
    // spared, so all of it belongs to the run.
    pid_t group = getpgid(pid);
    if (group > 1 && group != spared && group != getpgrp()) kill(-group, SIGKILL);
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (pidfd < 0) return;
    // The number may belong to another process by now.
    if (is_marked(pid, mark) == 1) syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
    close(pidfd);
}

// Returns 1 for the flowrun of this run; a step of another run may have started it.
static int is_flowrun(pid_t pid) {
    const struct clinux_guard *guard = clinux_guard();
    return pid == getpid() || (guard != NULL && pid == guard->pid) || pid == clinux_sentinel();
}

// The result of a look at all processes; `unknown`: a process has ended between the list and the look at it, and may
// have left a child that is not on the list.
enum look { none, unknown, some };

// Kills the marked processes that it finds.
static enum look look_and_kill(uint64_t mark, pid_t spared) {
    // Not on the stack, which may be as small as its limit allows.
    static char text[1 << 16] __attribute__((aligned(8)));
    int folder = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return none;
    enum look found = none;
    for (ssize_t count; (count = getdents64(folder, text, sizeof text)) > 0;) {
        for (ssize_t at = 0; at < count;) {
            struct dirent64 *entry = (struct dirent64 *)(text + at);
            at += entry->d_reclen;
            const pid_t pid = atoi(entry->d_name);
            if (pid <= 0 || is_flowrun(pid)) continue;
            const int known = is_marked(pid, mark);
            if (known == 0) continue;
            if (known == 1) end_process(pid, mark, spared);
            if (known == 1 && is_alive(pid)) found = some;
            else if (found == none) found = unknown;
        }
    }
    close(folder);
    return found;
}

void clinux_end_marked(uint64_t mark, pid_t spared, double limit) {
    // Where processes come and go all the time, every look finds a process that has just ended; this many looks are
    // enough.
    static const int looks_without_members = 20;
    struct timespec wait = {.tv_nsec = 1000000};
    const double start = seconds();
    const struct clinux_guard *guard = clinux_guard();
    const int is_own = guard != NULL && guard->mark == mark;
    for (int looks = 0; looks < looks_without_members && seconds() - start < limit;) {
        const int left = is_own && clinux_cgroup_remove();
        const enum look found = mark != 0 ? look_and_kill(mark, spared) : none;
        if (found == none && !left) return;
        if (found != some && !left) {
            looks++;
            continue;
        }
        looks = 0;
        nanosleep(&wait, NULL);
        if (wait.tv_nsec < 16000000) wait.tv_nsec *= 2;
    }
}

// MARK: The sentinel

static const char name[] = "sentinel";

// Keeps the sentinel alive when the others are killed by name or by a word of their command line.
static void take_name(void) {
    prctl(PR_SET_NAME, name, 0, 0, 0);
    int count;
    char *const *words = clinux_arguments(&count);
    if (count < 1) return;
    char *start = words[0], *end = words[count - 1] + strlen(words[count - 1]);
    memset(start, 0, (size_t)(end - start));
    strncpy(start, name, (size_t)(end - start));
}

// Makes the two descriptors 0 and 1, that of a jobserver 2, and closes all others: no pipe, terminal or file of the
// caller stays open.
static void keep_descriptors(int first, int second) {
    // Both move above 0 to 2 first.
    first = fcntl(first, F_DUPFD, 3);
    second = fcntl(second, F_DUPFD, 3);
    dup2(first, 0);
    dup2(second, 1);
    close(2);
    clinux_move_jobserver(2);
    if (syscall(SYS_close_range, 3, ~0U, 0) == 0) return;
    for (int number = 3; number < 1024; number++) close(number);
}

_Noreturn void clinux_be_sentinel(const struct clinux_guard *guard, pid_t runner, const char *folder, pid_t *standing) {
    const pid_t spared = getpgrp();
    setsid();
    take_name();
    // Marks it as a process of the run that may outlive it.
    const struct rlimit own_mark = {guard->mark, guard->mark};
    if (guard->mark != 0) setrlimit(RLIMIT_RTTIME, &own_mark);
    int runner_end = (int)syscall(SYS_pidfd_open, runner, 0);
    // The guard handles a runner that has ended, unless both were killed together; it makes another sentinel if there
    // is no descriptor for this one.
    const int has_ended = runner_end < 0 && errno == ESRCH;
    if (runner_end < 0 && !has_ended) _exit(0);
    keep_descriptors(guard->pidfd, has_ended ? guard->pidfd : runner_end);
    if (chdir("/") != 0) {}
    __atomic_store_n(standing, getpid(), __ATOMIC_RELEASE);
    // poll skips negative descriptors.
    struct pollfd ends[] = {{.fd = 0, .events = POLLIN}, {.fd = has_ended ? -1 : 1, .events = POLLIN}};
    while (ends[0].fd >= 0 || ends[1].fd >= 0) {
        if (poll(ends, 2, -1) < 0) continue;
        if (ends[0].revents != 0) ends[0].fd = -1;
        if (ends[1].revents == 0 || ends[1].fd < 0) continue;
        ends[1].fd = -1;
        // The guard may have stopped with its runner.
        if (ends[0].fd >= 0) syscall(SYS_pidfd_send_signal, 0, SIGCONT, NULL, 0);
    }
    clinux_end_marked(guard->mark, spared, 10);
    clinux_return_tokens();
    if (folder[0] != 0) clinux_remove_own_folder(folder);
    _exit(0);
}
