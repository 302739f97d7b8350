#define _GNU_SOURCE
#include "CLinux.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif

#ifndef P_PIDFD
#define P_PIDFD 3
#endif
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

static int closes_all_on_exec = 0;

void clinux_close_all_on_exec(void) {
    // Linux before 5.11 does not know the flag; then each new process closes its descriptors.
    closes_all_on_exec = syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC) == 0;
}

// One system call of the child. It shares the parent's memory, errno and all other thread-local storage included: no
// function of the C library may run in it.
#if defined(__x86_64__)
static inline __attribute__((always_inline)) long call(long number, long a, long b, long c, long d) {
    long result;
    register long fourth __asm__("r10") = d;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                     : "rcx", "r11", "memory");
    return result;
}
#elif defined(__aarch64__)
static inline __attribute__((always_inline)) long call(long number, long a, long b, long c, long d) {
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
    return x0;
}
#else
#define PARENT_WAITS 1
static long call(long number, long a, long b, long c, long d) {
    long result = syscall(number, a, b, c, d);
    return result < 0 ? -errno : result;
}
#endif

// Sanitizers keep their state of a thread where the child would write too.
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PARENT_WAITS 1
#endif
// valgrind knows vfork and threads, and nothing between. It is recognised only if its header was there at the build:
// a program built without it does not start steps under valgrind.
#if !defined(PARENT_WAITS) && defined(RUNNING_ON_VALGRIND)
#define PARENT_WAITS RUNNING_ON_VALGRIND
#endif
#ifndef PARENT_WAITS
#define PARENT_WAITS 0
#endif

// Closes what is open above standard error, for Linux before 5.9. Runs in the child.
static void close_open_descriptors(void) {
    char entries[4096] __attribute__((aligned(8)));
    long const folder = call(SYS_openat, AT_FDCWD, (long)"/proc/self/fd", O_RDONLY | O_DIRECTORY, 0);
    if (folder < 0) {
        for (int descriptor = STDERR_FILENO + 1; descriptor < 65536; descriptor++) call(SYS_close, descriptor, 0, 0, 0);
        return;
    }
    // Each round takes the first ones of those that are left.
    for (int closed = 1; closed != 0;) {
        closed = 0;
        call(SYS_lseek, folder, 0, SEEK_SET, 0);
        long const count = call(SYS_getdents64, folder, (long)entries, sizeof entries, 0);
        for (long at = 0; at < count;) {
            struct dirent64 *entry = (struct dirent64 *)(entries + at);
            at += entry->d_reclen;
            int descriptor = 0;
            for (char *digit = entry->d_name; *digit >= '0' && *digit <= '9'; digit++)
                descriptor = descriptor * 10 + *digit - '0';
            if (descriptor <= STDERR_FILENO || descriptor == folder) continue;
            if (call(SYS_close, descriptor, 0, 0, 0) == 0) closed++;
        }
    }
    call(SYS_close, folder, 0, 0, 0);
}

// Runs in the child, on its own stack in the parent's memory, until it has become the program.
static const int jobserver_number = 9;

__attribute__((disable_sanitizer_instrumentation, noreturn)) static int become_program(void *argument) {
    struct clinux_child *child = argument;
    static const uint64_t no_signals = 0;
    // As the kernel defines it: handler, flags, restorer, mask.
    static const uint64_t default_action[4] = {0};
    long result;

    // exec resets handlers by itself; ignored signals would stay ignored.
    for (uint64_t left = child->defaulted; left != 0; left &= left - 1)
        call(SYS_rt_sigaction, __builtin_ctzll(left) + 1, (long)default_action, 0, sizeof no_signals);
    child->failed_call = CLINUX_FAILED_SETUP;
    if (child->ends_with_parent) call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0);
    if (child->terminal != 0) {
        // Every signal is blocked, including SIGTTOU, which a process in the background gets for this.
        const int group = (int)call(SYS_getpid, 0, 0, 0, 0);
        if ((result = call(SYS_setpgid, 0, 0, 0, 0)) < 0) goto failed;
        if ((result = call(SYS_ioctl, child->terminal, TIOCSPGRP, (long)&group, 0)) < 0) goto failed;
    } else if ((result = call(SYS_setsid, 0, 0, 0, 0)) < 0) {
        goto failed;
    }
    if (child->mark != 0) {
        const uint64_t limit[2] = {child->mark, child->mark};
        if ((result = call(SYS_prlimit64, 0, RLIMIT_RTTIME, (long)limit, 0)) < 0) goto failed;
    }
    if ((result = call(SYS_dup3, child->standard_input, STDIN_FILENO, 0, 0)) < 0) goto failed;
    if ((result = call(SYS_dup3, child->standard_output, STDOUT_FILENO, 0, 0)) < 0) goto failed;
    if ((result = call(SYS_dup3, child->standard_error, STDERR_FILENO, 0, 0)) < 0) goto failed;
    const int after = STDERR_FILENO + 1;
    if (child->jobserver != 0) {
        if ((result = call(SYS_dup3, child->jobserver, jobserver_number, 0, 0)) < 0) goto failed;
        if (!closes_all_on_exec) {
            call(SYS_close_range, after, jobserver_number - 1, 0, 0);
            call(SYS_close_range, jobserver_number + 1, ~0U, 0, 0);
        }
    } else if (!closes_all_on_exec && call(SYS_close_range, after, ~0U, 0, 0) != 0) {
        close_open_descriptors();
    }
    // Lowering the limit closes nothing.
    if (child->descriptors[1] != 0) call(SYS_prlimit64, 0, RLIMIT_NOFILE, (long)child->descriptors, 0);
    child->failed_call = CLINUX_FAILED_CHDIR;
    if (child->working_directory != NULL && (result = call(SYS_chdir, (long)child->working_directory, 0, 0, 0)) < 0)
        goto failed;
    child->failed_call = CLINUX_FAILED_EXEC;
    call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&no_signals, 0, sizeof no_signals);
    // The program may be open for writing, perhaps in a process that was forked meanwhile and is about to exec.
    for (int attempt = 0; attempt < 250; attempt++) {
        static const struct timespec pause = {.tv_nsec = 20000000};
        result = call(SYS_execve, (long)child->path, (long)child->argv, (long)child->envp, 0);
        if (result != -ETXTBSY) break;
        call(SYS_nanosleep, (long)&pause, 0, 0, 0);
    }
failed:
    child->error = (int)-result;
    for (;;) call(SYS_exit_group, 127, 0, 0, 0);
}

// The size of a stack in bytes: the child needs a few hundred; a signal handler, which cannot run, would need some
// thousands.
static const size_t stack_size = 32 * 1024;

// As the kernel defines it since Linux 5.7.
struct clone_arguments {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size, cgroup;
};

// Starts a new process in a cgroup. It has to begin there: moving one waits for all other processes of the machine.
// The C library has no function for it. Returns the process number, or a negative error number.
__attribute__((noinline)) static long clone_into(struct clone_arguments *arguments, struct clinux_child *child) {
    const long number = 435;
#if defined(__x86_64__)
    long result;
    register int (*start)(void *) __asm__("r12") = become_program;
    register void *argument __asm__("r13") = child;
    __asm__ volatile("syscall\n\t"
                     "test %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "xor %%ebp, %%ebp\n\t"
                     "mov %[argument], %%rdi\n\t"
                     "call *%[start]\n\t"
                     "ud2\n"
                     "1:"
                     : "=a"(result)
                     : "a"(number), "D"(arguments), "S"(sizeof *arguments), [start] "r"(start), [argument] "r"(argument)
                     : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register int (*start)(void *) __asm__("x20") = become_program;
    register void *argument __asm__("x21") = child;
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = (long)arguments;
    register long x1 __asm__("x1") = sizeof *arguments;
    __asm__ volatile("svc 0\n\t"
                     "cbnz x0, 1f\n\t"
                     "mov x29, xzr\n\t"
                     "mov x0, %[argument]\n\t"
                     "blr %[start]\n\t"
                     "brk #0\n"
                     "1:"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), [start] "r"(start), [argument] "r"(argument)
                     : "memory");
    return x0;
#else
    (void)number;
    return -ENOSYS;
#endif
}

// 0 once `clinux_ignored_signals` has seen that no signal has a handler; flowrun sets none later.
static int may_have_handlers = 1;

pid_t clinux_spawn(struct clinux_child *child, void *stack, int *pidfd) {
    // Like posix_spawn, but with the pidfd from the kernel at once, without a system call for each of 64 signals, and
    // without a wait for the exec: a run of a thousand short steps is made of spawns.
    static int waits = -1;
    if (waits < 0) waits = PARENT_WAITS;
    const int flags = CLONE_VM | CLONE_PIDFD | SIGCHLD;
    sigset_t all, before;
    sigfillset(&all);
    child->error = 0;
    // No handler of this process may run in the child, and TTOU would stop one that takes the terminal. The mask is the
    // calling thread's alone.
    const int is_masked = may_have_handlers || child->terminal != 0;
    if (is_masked) pthread_sigmask(SIG_BLOCK, &all, &before);
    pid_t pid = -1;
    errno = 0;
    if (child->leaf != 0) {
        struct clone_arguments arguments = {
            .flags = CLONE_VM | CLONE_PIDFD | (waits ? CLONE_VFORK : 0) | 1ULL << 33, // CLONE_INTO_CGROUP
            .pidfd = (uintptr_t)pidfd,
            .exit_signal = SIGCHLD,
            .stack = (uintptr_t)stack - stack_size,
            .stack_size = stack_size,
            .cgroup = (uint64_t)child->leaf,
        };
        const long result = clone_into(&arguments, child);
        pid = result < 0 ? -1 : (pid_t)result;
        errno = result < 0 ? (int)-result : 0;
        // The kernel is too old, or does not let processes into the cgroup; the machine has a process nevertheless.
        if (pid < 0 && errno != EAGAIN && errno != ENOMEM) child->leaf = 0;
    }
    if (pid < 0 && child->leaf == 0) {
        pid = clone(become_program, stack, waits ? flags | CLONE_VFORK : flags, child, pidfd);
    }
    if (pid < 0 && child->leaf == 0 && !waits && (errno == EINVAL || errno == EPERM || errno == ENOSYS)) {
        // Some system call filters know vfork and threads, and nothing between.
        pid = clone(become_program, stack, flags | CLONE_VFORK, child, pidfd);
        waits = pid > 0;
    }
    int error = errno;
    if (is_masked) pthread_sigmask(SIG_SETMASK, &before, NULL);
    return pid < 0 ? -error : pid;
}

void *clinux_make_stack(void) {
    size_t guard = sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, guard + stack_size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    if (mprotect(memory, guard, PROT_NONE) != 0) {
        int error = errno;
        munmap(memory, guard + stack_size);
        errno = error;
        return NULL;
    }
    return memory + guard + stack_size;
}

void clinux_free_stack(void *stack) {
    size_t size = sysconf(_SC_PAGESIZE) + stack_size;
    munmap((char *)stack - size, size);
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

int clinux_stop_of(int pidfd) {
    siginfo_t info = {0};
    return waitid(P_PIDFD, pidfd, &info, WSTOPPED | WNOHANG) == 0 && info.si_pid != 0 ? info.si_status : 0;
}

int clinux_rename_new(int folder, const char *name, int new_folder, const char *new_name) {
    return (int)syscall(SYS_renameat2, folder, name, new_folder, new_name, 1); // RENAME_NOREPLACE
}

int clinux_pidfd_open(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

int clinux_pidfd_send_signal(int pidfd, int signal) {
    return (int)syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0);
}

int clinux_pidfd_signal_group(int pidfd, int signal) {
    const unsigned group = 1 << 2; // PIDFD_SIGNAL_PROCESS_GROUP
    return (int)syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, group);
}

int clinux_pipe(int *reading, int *writing) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -errno;
    // The ends are two open file descriptions: the flag stays on this side.
    if (fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) {
        int error = errno;
        close(ends[0]);
        close(ends[1]);
        return -error;
    }
    *reading = ends[0];
    *writing = ends[1];
    return 0;
}

void clinux_grow_pipe(int pipe, size_t size) { fcntl(pipe, F_SETPIPE_SZ, (int)size); }

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

// An address holds 107 characters and a folder's path may have more: the folder is named by its descriptor.
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

static int range_call(int file, int command, short type, struct flock *range, off_t start, off_t length) {
    *range = (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
    int result;
    do {
        result = fcntl(file, command, range);
    } while (result != 0 && errno == EINTR);
    return result;
}

int clinux_lock_range(int file, off_t start, off_t length, int waits) {
    struct flock range;
    int result = range_call(file, waits ? F_OFD_SETLKW : F_OFD_SETLK, F_WRLCK, &range, start, length);
    if (result != 0 && errno == EACCES) errno = EAGAIN;
    return result;
}

int clinux_unlock_range(int file, off_t start, off_t length) {
    struct flock range;
    return range_call(file, F_OFD_SETLK, F_UNLCK, &range, start, length);
}

int clinux_range_is_locked(int file, off_t start, off_t length) {
    struct flock range;
    if (range_call(file, F_OFD_GETLK, F_WRLCK, &range, start, length) != 0) return -1;
    return range.l_type != F_UNLCK;
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

#ifndef RWF_NOWAIT
#define RWF_NOWAIT 8
#endif

ssize_t clinux_write_now(int pipe, const void *bytes, size_t count) {
    struct iovec piece = {.iov_base = (void *)bytes, .iov_len = count};
    return pwritev2(pipe, &piece, 1, -1, RWF_NOWAIT);
}

int clinux_same_terminal(int left, int right) {
    unsigned int first, second;
    return ioctl(left, TIOCGDEV, &first) == 0 && ioctl(right, TIOCGDEV, &second) == 0 && first == second;
}

uint64_t clinux_ignored_signals(void) {
    uint64_t ignored = 0;
    int handled = 0;
    for (int signal = 1; signal <= 64; signal++) {
        struct sigaction action;
        if (sigaction(signal, NULL, &action) != 0) continue;
        if (action.sa_handler == SIG_IGN) ignored |= 1ULL << (signal - 1);
        else if (action.sa_handler != SIG_DFL) handled = 1;
    }
    may_have_handlers = handled;
    return ignored;
}
