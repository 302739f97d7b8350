#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

int clinux_spawn(const struct clinux_spawn_request *request, const sigset_t *defaulted, pid_t *pid, int *pidfd) {
    // posix_spawn rather than fork or a raw clone: glibc blocks signals around a vfork-like clone and runs only
    // async-signal-safe code in the child (swiftlang/swift-subprocess#374 shows what happens otherwise).
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    int error = posix_spawnattr_init(&attributes);
    if (error != 0) return error;
    error = posix_spawn_file_actions_init(&actions);
    if (error != 0) {
        posix_spawnattr_destroy(&attributes);
        return error;
    }

    sigset_t empty;
    sigemptyset(&empty);
    posix_spawnattr_setsigmask(&attributes, &empty);
    posix_spawnattr_setsigdefault(&attributes, defaulted);
    error = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

    if (error == 0) error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, request->standard_output, STDOUT_FILENO);
    if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, request->standard_error, STDERR_FILENO);
    if (error == 0) error = posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    if (error == 0 && request->working_directory != NULL)
        error = posix_spawn_file_actions_addchdir_np(&actions, request->working_directory);

    if (error == 0) error = posix_spawn(pid, request->path, &actions, &attributes, request->argv, request->envp);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (error != 0) return error;

    // Not a race: an unreaped child keeps its number, and only clinux_reap reaps.
    *pidfd = clinux_pidfd_open(*pid);
    if (*pidfd < 0) {
        error = errno;
        kill(*pid, SIGKILL);
        waitpid(*pid, NULL, 0);
    }
    return error;
}

int clinux_reap(int pidfd, struct clinux_ending *ending) {
    siginfo_t info;
    memset(&info, 0, sizeof info);
    // The system call, because glibc's waitid does not hand out the resource usage.
    long result;
    do {
        result = syscall(SYS_waitid, P_PIDFD, pidfd, &info, WEXITED | WNOHANG, &ending->usage);
    } while (result < 0 && errno == EINTR);
    if (result < 0) return -errno;
    if (info.si_pid == 0) return 0;
    ending->code = info.si_code;
    ending->status = info.si_status;
    return 1;
}

int clinux_pidfd_open(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

int clinux_pidfd_send_signal(int pidfd, int signal) {
    return (int)syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0);
}

int clinux_pipe(int ends[2]) {
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    // The ends are two open file descriptions: the flag stays on this side.
    return fcntl(ends[0], F_SETFL, O_NONBLOCK);
}

void clinux_grow_pipe(int pipe) { fcntl(pipe, F_SETPIPE_SZ, 1 << 20); }

int clinux_usable_cores(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    int count = CPU_COUNT(&set);
    return count > 0 ? count : 1;
}

void clinux_ignored_signals(sigset_t *set) {
    sigemptyset(set);
    for (int signal = 1; signal < NSIG; signal++) {
        struct sigaction action;
        if (sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN) sigaddset(set, signal);
    }
}
