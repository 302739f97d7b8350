#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

// What the child reads and, in `error`, writes: it shares the parent's memory until it has become the program.
struct child {
    const struct clinux_spawn_request *request;
    const sigset_t *defaulted;
    int error;
};

// Runs in the child, on its own stack in the parent's memory, while the parent's thread waits: nothing but system calls,
// no allocation, no lock. The C library's errno is the parent's, which does not look at it meanwhile.
static int become_program(void *argument) {
    struct child *child = argument;
    const struct clinux_spawn_request *request = child->request;
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigset_t none;
    sigemptyset(&none);

    // Handlers end with exec by themselves; what is ignored would stay ignored.
    for (int signal = 1; signal < NSIG; signal++)
        if (sigismember(child->defaulted, signal) == 1) sigaction(signal, &action, NULL);
    if (setsid() < 0) goto failed;
    if (request->working_directory != NULL && chdir(request->working_directory) != 0) goto failed;
    int input = request->standard_input >= 0 ? request->standard_input : open("/dev/null", O_RDONLY);
    if (input < 0) goto failed;
    if (input != STDIN_FILENO && dup2(input, STDIN_FILENO) < 0) goto failed;
    if (dup2(request->standard_output, STDOUT_FILENO) < 0) goto failed;
    if (dup2(request->standard_error, STDERR_FILENO) < 0) goto failed;
    if (syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0) != 0) {
        // Linux before 5.9.
        for (int descriptor = STDERR_FILENO + 1; descriptor < 65536; descriptor++) close(descriptor);
    }
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve(request->path, request->argv, request->envp);
failed:
    child->error = errno;
    _exit(127);
}

int clinux_spawn(const struct clinux_spawn_request *request, const sigset_t *defaulted, pid_t *pid, int *pidfd) {
    // As posix_spawn does it, a vfork with a stack of its own, but with the pidfd from the kernel at once, the stack
    // kept for the next time, and no system call for each of 64 signals. A spawn is the one thing that a run of a
    // thousand short steps is made of; this form costs less than posix_spawn (make bench).
    static _Alignas(16) char stack[64 * 1024];
    struct child child = {.request = request, .defaulted = defaulted, .error = 0};
    sigset_t all, before;
    sigfillset(&all);
    // No handler of this process may run in the child. The mask is the calling thread's alone.
    pthread_sigmask(SIG_BLOCK, &all, &before);
    *pid = clone(become_program, stack + sizeof stack, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &child, pidfd);
    int error = *pid < 0 ? errno : child.error;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (*pid >= 0 && error != 0) {
        waitpid(*pid, NULL, 0);
        close(*pidfd);
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

int clinux_memory_file(const void *bytes, size_t count) {
    int file = memfd_create("flowrun", MFD_CLOEXEC);
    if (file < 0) return -1;
    for (size_t written = 0; written < count;) {
        ssize_t result = write(file, (const char *)bytes + written, count - written);
        if (result < 0 && errno == EINTR) continue;
        if (result <= 0) {
            int error = result < 0 ? errno : ENOSPC;
            close(file);
            errno = error;
            return -1;
        }
        written += result;
    }
    lseek(file, 0, SEEK_SET);
    return file;
}

int clinux_usable_cores(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    int count = CPU_COUNT(&set);
    return count > 0 ? count : 1;
}

// An address holds 107 characters and a folder's path more: the folder is named by its descriptor.
static int address_in(int folder, const char *name, struct sockaddr_un *address) {
    address->sun_family = AF_UNIX;
    int length = snprintf(address->sun_path, sizeof address->sun_path, "/proc/self/fd/%d/%s", folder, name);
    if (length >= 0 && (size_t)length < sizeof address->sun_path) return 0;
    errno = ENAMETOOLONG;
    return -1;
}

static int close_failed(int descriptor) {
    int error = errno;
    close(descriptor);
    errno = error;
    return -1;
}

int clinux_listen(int folder, const char *name) {
    struct sockaddr_un address;
    if (address_in(folder, name, &address) != 0) return -1;
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return -1;
    // Before the name exists: the file gets the socket's own mode, whatever the umask lets through.
    if (fchmod(descriptor, 0600) != 0 || bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(descriptor, 16) != 0)
        return close_failed(descriptor);
    return descriptor;
}

int clinux_accept(int listener, uid_t *peer) {
    int descriptor = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (descriptor < 0) return -1;
    struct ucred credentials;
    socklen_t size = sizeof credentials;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return close_failed(descriptor);
    *peer = credentials.uid;
    return descriptor;
}

int clinux_connect(int folder, const char *name, int limit) {
    struct sockaddr_un address;
    if (address_in(folder, name, &address) != 0) return -1;
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -1;
    struct timeval wait = {.tv_sec = limit};
    if (setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait) != 0 ||
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait) != 0 ||
        connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0)
        return close_failed(descriptor);
    return descriptor;
}

void clinux_ignored_signals(sigset_t *set) {
    sigemptyset(set);
    for (int signal = 1; signal < NSIG; signal++) {
        struct sigaction action;
        if (sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN) sigaddset(set, signal);
    }
}
