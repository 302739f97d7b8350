#define _GNU_SOURCE
#include "Cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#ifndef CGROUP2_SUPER_MAGIC
#define CGROUP2_SUPER_MAGIC 0x63677270
#endif

enum state { unknown, being_made, made, impossible };

// State that the guard and the runner share. Whichever comes first makes the first leaf.
struct clinux_cgroup {
    int state;
    int leaves;
    int is_counted;
    int64_t kills;
    char folder[4096];  // of the own cgroup, the root of the mount included
    char counter[4096]; // what counts kills for memory
};

static struct clinux_cgroup *shared;
static uint64_t leaf_name;

unsigned long clinux_cgroup_size(void) { return sizeof *shared; }

void clinux_cgroup_share(struct clinux_cgroup *memory, uint64_t name) {
    shared = memory;
    leaf_name = name;
}

// MARK: Files

// Reads at most `size` - 1 bytes and puts a NUL after them. Returns their number, or -1 with errno.
static ssize_t read_file(int folder, const char *name, char *text, size_t size) {
    int file = openat(folder, name, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    ssize_t count = 0, more;
    while ((more = read(file, text + count, size - 1 - count)) > 0) count += more;
    close(file);
    text[count] = 0;
    return more < 0 ? -1 : count;
}

// Returns the number after a word at the start of a line; -1 if there is none.
static int64_t number_behind(const char *word, const char *text) {
    size_t length = strlen(word);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        if (*line == '\n') line++;
        if (strncmp(line, word, length) == 0 && line[length] == ' ') return strtoll(line + length + 1, NULL, 10);
    }
    return -1;
}

// Copies the path after a prefix such as `0::` in /proc/self/cgroup. Returns 1 if there is one.
static int own_path(const char *text, const char *prefix, char *path, size_t size) {
    const char *found = strstr(text, prefix);
    if (found == NULL) return 0;
    found += strlen(prefix);
    size_t length = strcspn(found, "\n");
    // Out of sight: the cgroup is above what this namespace shows.
    if (length >= size || strncmp(found, "/..", 3) == 0) return 0;
    memcpy(path, found, length);
    path[length] = 0;
    return 1;
}

// MARK: Leaves

static int leaf_path(uint64_t name, int number, const char *file, char *path, size_t size) {
    int length = snprintf(path, size, "%s/flowrun-%llx-%d%s", shared->folder, (unsigned long long)name, number, file);
    return length >= 0 && (size_t)length < size;
}

static int make_leaf(int number) {
    char path[4200];
    if (!leaf_path(leaf_name, number, "", path, sizeof path)) return -ENAMETOOLONG;
    // Counted before it is made, so that no leaf is unknown to the others if this process dies in between.
    if (shared->leaves <= number) shared->leaves = number + 1;
    return mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : -errno;
}

static int find_folder(void) {
    // The places where systemd, containers and hybrid systems mount it.
    static const char *const mounts[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
    char text[4096], path[3000];
    if (read_file(AT_FDCWD, "/proc/self/cgroup", text, sizeof text) <= 0) return 0;
    const char *start = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
    if (start == NULL || !own_path(start, "0::", path, sizeof path)) return 0;
    for (size_t at = 0; at < sizeof mounts / sizeof *mounts; at++) {
        struct statfs system;
        snprintf(shared->folder, sizeof shared->folder, "%s%s", mounts[at], strcmp(path, "/") == 0 ? "" : path);
        if (statfs(shared->folder, &system) == 0 && system.f_type == CGROUP2_SUPER_MAGIC) return 1;
    }
    return 0;
}

void clinux_cgroup_prepare(void) {
    int expected = unknown;
    if (shared == NULL ||
        !__atomic_compare_exchange_n(&shared->state, &expected, being_made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return;
    int state = find_folder() && make_leaf(0) == 0 ? made : impossible;
    __atomic_store_n(&shared->state, state, __ATOMIC_RELEASE);
}

// Returns 1 if there is a place for leaves, which the guard and the runner find out side by side.
static int can_have_leaves(void) {
    if (shared == NULL) return 0;
    clinux_cgroup_prepare();
    // The other process is about to be done with it, unless it has been killed. On a busy machine it may have to wait
    // for its turn first.
    static const struct timespec pause = {.tv_nsec = 100000};
    for (int turn = 0; turn < 10000 && __atomic_load_n(&shared->state, __ATOMIC_ACQUIRE) == being_made; turn++) {
        if (turn < 100) sched_yield();
        else nanosleep(&pause, NULL);
    }
    return __atomic_load_n(&shared->state, __ATOMIC_ACQUIRE) == made;
}

int clinux_open_leaf(int number) {
    if (!can_have_leaves()) return -ENOENT;
    char path[4200];
    if (!leaf_path(leaf_name, number, "", path, sizeof path)) return -ENAMETOOLONG;
    const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    int leaf = number < shared->leaves ? open(path, flags) : -1;
    if (leaf >= 0) return leaf;
    int error = make_leaf(number);
    if (error != 0) return error;
    leaf = open(path, flags);
    return leaf >= 0 ? leaf : -errno;
}

int clinux_remove_leaf(int number) {
    char path[4200];
    if (shared == NULL || !leaf_path(leaf_name, number, "", path, sizeof path)) return -ENOENT;
    return rmdir(path) == 0 ? 0 : -errno;
}

int clinux_is_populated(int events) {
    char text[256];
    ssize_t count = pread(events, text, sizeof text - 1, 0);
    if (count < 0) return -1;
    text[count] = 0;
    return number_behind("populated", text) != 0;
}

// Leaves of an inner flowrun are inside leaves.
static void remove_folder(const char *path, int depth) {
    if (rmdir(path) == 0 || errno != EBUSY || depth > 8) return;
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    char text[4096] __attribute__((aligned(8)));
    ssize_t count = getdents64(folder, text, sizeof text);
    for (ssize_t at = 0; at < count;) {
        struct dirent64 *entry = (struct dirent64 *)(text + at);
        at += entry->d_reclen;
        char inner[4200];
        if (strncmp(entry->d_name, "flowrun-", 8) != 0) continue;
        if ((size_t)snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name) < sizeof inner)
            remove_folder(inner, depth + 1);
    }
    close(folder);
    rmdir(path);
}

// Kills the members one at a time. Older kernels have no KILL for a cgroup, and that of newer ones passes over a
// process whose first thread has ended.
static void kill_members(uint64_t name, int number) {
    char path[4200], text[4096], own[64];
    if (!leaf_path(name, number, "/cgroup.procs", path, sizeof path)) return;
    if (read_file(AT_FDCWD, path, text, sizeof text) <= 0) return;
    snprintf(own, sizeof own, "/flowrun-%llx-%d", (unsigned long long)name, number);
    for (char *next = text, *end; *next != 0; next = end + 1) {
        const long pid = strtol(next, &end, 10);
        // The end of the buffer may have cut off the last number.
        if (end == next || *end != '\n') return;
        const int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
        if (pidfd < 0) continue;
        // The number may belong to another process by now.
        char groups[4096];
        snprintf(path, sizeof path, "/proc/%ld/cgroup", pid);
        if (read_file(AT_FDCWD, path, groups, sizeof groups) > 0 && strstr(groups, own) != NULL)
            syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
        close(pidfd);
    }
}

// Returns 1 if the leaf has members, which are killed then.
static int remove_leaf(uint64_t name, int number) {
    char path[4200];
    if (!leaf_path(name, number, "", path, sizeof path)) return 0;
    if (rmdir(path) == 0 || errno != EBUSY) return 0;
    remove_folder(path, 0);
    if (access(path, F_OK) != 0) return 0;
    leaf_path(name, number, "/cgroup.kill", path, sizeof path);
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file >= 0) {
        ssize_t written = write(file, "1", 1);
        (void)written;
        close(file);
    }
    kill_members(name, number);
    return 1;
}

int clinux_cgroup_remove_empty(void) {
    if (shared == NULL) return 0;
    while (shared->leaves > 0) {
        const int error = clinux_remove_leaf(shared->leaves - 1);
        if (error != 0 && error != -ENOENT) break;
        shared->leaves--;
    }
    return shared->leaves;
}

int clinux_cgroup_remove(void) {
    if (shared == NULL) return 0;
    int left = 0;
    for (int number = 0; number < shared->leaves; number++) left |= remove_leaf(leaf_name, number);
    return left;
}

void clinux_remove_leaves(uint64_t name) {
    if (!can_have_leaves()) return;
    // Read from the folder, because the numbers may have gaps: a leaf is removed once it was killed, and later ones
    // stay.
    int folder = open(shared->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    char prefix[64], text[4096] __attribute__((aligned(8)));
    const size_t length = (size_t)snprintf(prefix, sizeof prefix, "flowrun-%llx-", (unsigned long long)name);
    for (ssize_t count; (count = getdents64(folder, text, sizeof text)) > 0;) {
        for (ssize_t at = 0; at < count;) {
            struct dirent64 *entry = (struct dirent64 *)(text + at);
            at += entry->d_reclen;
            if (strncmp(entry->d_name, prefix, length) == 0) remove_leaf(name, atoi(entry->d_name + length));
        }
    }
    close(folder);
}

// MARK: Kills for memory

static int64_t count_kills(void) {
    char text[16384];
    return read_file(AT_FDCWD, shared->counter, text, sizeof text) > 0 ? number_behind("oom_kill", text) : -1;
}

void clinux_cgroup_count(void) {
    if (shared == NULL || shared->is_counted) return;
    char text[4096], path[3000];
    int64_t kills = -1;
    if (read_file(AT_FDCWD, "/proc/self/cgroup", text, sizeof text) > 0) {
        if (shared->folder[0] != 0) {
            snprintf(shared->counter, sizeof shared->counter, "%.4000s/memory.events", shared->folder);
            kills = count_kills();
        }
        if (kills < 0 && own_path(text, ":memory:", path, sizeof path)) {
            snprintf(shared->counter, sizeof shared->counter, "/sys/fs/cgroup/memory%s/memory.oom_control", path);
            kills = count_kills();
        }
    }
    if (kills < 0) {
        strcpy(shared->counter, "/proc/vmstat");
        kills = count_kills();
    }
    shared->kills = kills;
    __atomic_store_n(&shared->is_counted, kills >= 0, __ATOMIC_RELEASE);
}

int64_t clinux_oom_kills(void) {
    if (shared == NULL || !__atomic_load_n(&shared->is_counted, __ATOMIC_ACQUIRE)) return -1;
    int64_t kills = count_kills();
    return kills < 0 ? -1 : kills - shared->kills;
}

int64_t clinux_oom_kills_in(int leaf) {
    char text[1024];
    return read_file(leaf, "memory.events", text, sizeof text) > 0 ? number_behind("oom_kill", text) : -1;
}

// MARK: Processor time

// The smaller one of two quotas, of which 0 is none.
static int least_of(int first, int second) {
    return first == 0 || (second > 0 && second < first) ? second : first;
}

// The processors that a quota allows a period, rounded up; 0 for none.
static int quota_of(long long quota, long long period) {
    return quota > 0 && period > 0 ? (int)((quota - 1) / period + 1) : 0;
}

static int quota_in(const char *folder, int is_version_1) {
    char path[4200], text[64], *rest;
    snprintf(path, sizeof path, "%s/%s", folder, is_version_1 ? "cpu.cfs_quota_us" : "cpu.max");
    if (read_file(AT_FDCWD, path, text, sizeof text) <= 0) return 0;
    // Without a limit, it is `max` or -1.
    long long quota = strtoll(text, &rest, 10);
    if (quota <= 0 || !is_version_1) return quota_of(quota, strtoll(rest, NULL, 10));
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
    return read_file(AT_FDCWD, path, text, sizeof text) <= 0 ? 0 : quota_of(quota, strtoll(text, NULL, 10));
}

// The least quota of a cgroup and all around it up to where they are mounted.
static int least_quota(const char *mount, const char *group, int is_version_1) {
    char folder[4096];
    size_t root = (size_t)snprintf(folder, sizeof folder, "%.500s", mount);
    size_t end = root + (size_t)snprintf(folder + root, sizeof folder - root, "%s", strcmp(group, "/") ? group : "");
    int least = 0;
    for (;;) {
        least = least_of(least, quota_in(folder, is_version_1));
        if (end <= root) return least;
        while (end > root && folder[end - 1] != '/') end--;
        if (end > root) end--;
        folder[end] = 0;
    }
}

int clinux_cpu_quota(const char *own, const char *mounts) {
    char text[4096], group[3000], mount[600];
    if (read_file(AT_FDCWD, own, text, sizeof text) <= 0) return 0;
    static const char *const prefixes[] = {"0::", "0::", ":cpu:", ":cpu,cpuacct:", ":cpuacct,cpu:"};
    static const char *const folders[] = {"", "/unified", "/cpu", "/cpu", "/cpu"};
    int least = 0;
    for (size_t at = 0; at < sizeof prefixes / sizeof *prefixes; at++) {
        if (!own_path(text, prefixes[at], group, sizeof group)) continue;
        snprintf(mount, sizeof mount, "%.500s%s", mounts, folders[at]);
        least = least_of(least, least_quota(mount, group, at > 1));
    }
    return least;
}
