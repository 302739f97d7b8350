// The guard of guarded_floor, and what it kills by: marks, and cgroups as leaves of the own one.
#ifndef GUARDED_GUARD_H
#define GUARDED_GUARD_H

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#include "guarded_records.h"

enum { runBits = 24, levelBits = 56 };

static struct {
    enum { unknown, made, impossible } state;
    int leaves;
    char folder[3000];
} *shared; // by guard and runner
static pid_t guardPid, runner;
static int guard, guardChildren; // its pidfd, the list of its children
static uint64_t runName;         // what the marks of a run share, and the names of its leaves
static char run[32];

// MARK: Marks

// A mark is a limit on real-time scheduling that nothing reaches: a level, which falls with each runner inside another,
// the run, and the command.
static uint64_t mark_of(pid_t pid) {
    struct rlimit limit;
    return prlimit(pid, RLIMIT_RTTIME, NULL, &limit) == 0 ? limit.rlim_max : 0;
}

// The number may have become another process'.
static void kill_marked(pid_t pid, uint64_t wanted, int bits) {
    const int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (pidfd < 0) return;
    if (mark_of(pid) >> bits == wanted) syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
    close(pidfd);
}

// Returns 1 if a child of the guard has the mark, or may have it; the last `bits` of marks do not count. One that forks
// and ends meanwhile has its child in the next list: only the same list twice is proof, or one of the runner alone.
static int has_orphans(uint64_t wanted, int bits, int kills) {
    char text[4096], before[4096];
    for (ssize_t size = -1;;) {
        const ssize_t count = pread(guardChildren, text, sizeof text - 1, 0);
        // A full page may be a part of the list.
        if (count < 0 || count > (ssize_t)sizeof text - 16) return 1;
        text[count] = 0;
        int others = 0, found = 0, hasRunner = 0;
        for (char *at = text, *end; *at != 0; at = end + 1) {
            const pid_t pid = (pid_t)strtol(at, &end, 10);
            if (pid == runner) {
                hasRunner = 1;
                continue;
            }
            others = 1;
            if (mark_of(pid) >> bits != wanted) continue;
            found = 1;
            if (kills) kill_marked(pid, wanted, bits);
        }
        // Without the runner it is the list of a dead guard, unless the runner is dead and the guard kills.
        if (found || (!hasRunner && !kills)) return 1;
        if (!others || (count == size && memcmp(text, before, (size_t)count) == 0)) return 0;
        memcpy(before, text, (size_t)count);
        size = count;
    }
}

// MARK: Leaves

static const char *leaf_path(uint64_t name, int number, const char *file) {
    static char path[3200];
    snprintf(path, sizeof path, "%s/guarded-%llx-%d%s", shared->folder, (unsigned long long)name, number, file);
    return path;
}

static int find_folder(void) {
    static const char *const mounts[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
    char text[2900] = "";
    const int file = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
    if (file < 0 || read(file, text, sizeof text - 1) < 0) return 0;
    close(file);
    char *own = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
    if (own == NULL || (own = strchr(own, '/')) == NULL) return 0;
    own[strcspn(own, "\n")] = 0;
    for (int at = 0; at < 2; at++) {
        struct statfs system;
        snprintf(shared->folder, sizeof shared->folder, "%s%s", mounts[at], strcmp(own, "/") == 0 ? "" : own);
        if (statfs(shared->folder, &system) == 0 && system.f_type == 0x63677270) return 1;
    }
    return 0;
}

// The guard finds the place and makes the first leaf while the runner makes its files.
static int can_have_leaves(void) {
    static int isTold;
    while (__atomic_load_n(&shared->state, __ATOMIC_ACQUIRE) == unknown && getppid() == guardPid) sched_yield();
    if (shared->state == made) return 1;
    if (!isTold) fprintf(stderr, "guarded_floor: no cgroup to divide, going on without\n");
    isTold = 1;
    return 0;
}

// Returns the folder of a leaf, to start processes in, and the file that says whether some are left.
static int open_leaf(int number, int *events) {
    if (shared->leaves <= number) shared->leaves = number + 1;
    if (number > 0) mkdir(leaf_path(runName, number, ""), 0700);
    const int leaf = open(leaf_path(runName, number, ""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *events = openat(leaf, "cgroup.events", O_RDONLY | O_CLOEXEC);
    if (*events < 0) give_up("make a cgroup");
    return leaf;
}

static int is_populated(int events) {
    static const char empty[] = "populated 0\n";
    char text[64];
    const ssize_t size = pread(events, text, sizeof text, 0);
    return size < (ssize_t)sizeof empty - 1 || memcmp(text, empty, sizeof empty - 1) != 0;
}

static void kill_leaf(uint64_t name, int number) {
    const int file = open(leaf_path(name, number, "/cgroup.kill"), O_WRONLY | O_CLOEXEC);
    if (file < 0) return;
    if (write(file, "1", 1) < 0) {}
    close(file);
}

// Returns 1 if some have processes, which are killed then.
static int remove_leaves(uint64_t name, int count) {
    int left = 0;
    for (int number = 0; number < count; number++) {
        if (rmdir(leaf_path(name, number, "")) == 0 || errno != EBUSY) continue;
        kill_leaf(name, number);
        left = 1;
    }
    return left;
}

// MARK: The guard

static int reap_any(siginfo_t *info) {
    info->si_pid = 0;
    return waitid(P_ALL, 0, info, WEXITED | WNOHANG) == 0 && info->si_pid != 0;
}

static _Noreturn void end_run(const siginfo_t *ending) {
    for (siginfo_t info;;) {
        const int left = remove_leaves(runName, shared->leaves);
        while (reap_any(&info)) {}
        if (!left && (errno == ECHILD || !has_orphans(runName, runBits, 1))) break;
        usleep(1000);
    }
    _exit(ending->si_code == CLD_EXITED ? ending->si_status : 128 + ending->si_status);
}

static _Noreturn void keep_guard(const sigset_t *signals) {
    shared->leaves = 1;
    const int isMade = find_folder() && mkdir(leaf_path(runName, 0, ""), 0700) == 0;
    __atomic_store_n(&shared->state, isMade ? made : impossible, __ATOMIC_RELEASE);
    for (siginfo_t info;;) {
        if (sigwaitinfo(signals, &info) < 0) continue;
        if (info.si_signo != SIGCHLD) kill(runner, info.si_signo);
        else while (reap_any(&info)) if (info.si_pid == runner) end_run(&info);
    }
}

// Names the run, and makes this process the guard of a new one, in which it returns.
static void enter_guard(void) {
    const uint64_t own = mark_of(0), level = own == RLIM_INFINITY ? 63 : (own >> levelBits) - 1;
    uint32_t random[2];
    if (level < 1 || level > 63 || getrandom(random, sizeof random, 0) < 0) give_up("mark its processes");
    runName = level << (levelBits - runBits) | random[0];
    const time_t seconds = time(NULL);
    struct tm parts;
    strftime(run, sizeof run, "%Y%m%dT%H%M%S", gmtime_r(&seconds, &parts));
    sprintf(run + strlen(run), "-%06x", random[1] >> 8);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    guard = (int)syscall(SYS_pidfd_open, guardPid = getpid(), 0);
    guardChildren = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (guard < 0 || guardChildren < 0 || shared == MAP_FAILED) give_up("make its guard");
    static const int heard[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    sigset_t signals, before;
    sigemptyset(&signals);
    for (size_t at = 0; at < sizeof heard / sizeof *heard; at++) sigaddset(&signals, heard[at]);
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_BLOCK, &signals, &before);
    runner = fork();
    if (runner > 0) keep_guard(&signals);
    if (runner < 0) give_up("make its runner");
    runner = getpid();
    // Blocked, not ignored: a command then has nothing to reset but the mask.
    sigaddset(&before, SIGPIPE);
    sigaddset(&before, SIGXFSZ);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

#endif
