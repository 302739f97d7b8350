// The few Linux calls that Swift cannot make by itself, and the headers they come from.
#ifndef CLINUX_H
#define CLINUX_H

#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/types.h>

/// What a new process is made of. Pointers are only read during the call.
struct clinux_spawn_request {
    const char *path;              // no search: absolute, or relative to the working directory
    char *const *argv;
    char *const *envp;
    const char *working_directory; // NULL: the caller's
    int standard_input;            // -1: /dev/null
    int standard_output;
    int standard_error;
};

/// Starts a process as the leader of a new session: no descriptor above 2, empty signal mask, default action for
/// `defaulted` signals. Returns 0, or the error number of the step that failed.
/// The process is a child to be reaped by `clinux_reap`; `*pidfd` is close-on-exec and belongs to the caller. The
/// descriptors of the request are above 2. From one thread only; other threads go on meanwhile.
int clinux_spawn(const struct clinux_spawn_request *request, const sigset_t *defaulted, pid_t *pid, int *pidfd);

/// How a process ended and what it used.
struct clinux_ending {
    int code;   // CLD_EXITED, CLD_KILLED or CLD_DUMPED
    int status; // exit status or signal number
    struct rusage usage;
};

/// Reaps the process behind a pidfd. Returns 1 when it has ended, 0 when it has not, or a negative error number.
int clinux_reap(int pidfd, struct clinux_ending *ending);

/// pidfd_open(2) and pidfd_send_signal(2); -1 with errno on failure.
int clinux_pidfd_open(pid_t pid);
int clinux_pidfd_send_signal(int pidfd, int signal);

/// A pipe, close-on-exec; the read end does not block, the write end does (reliability F30). Returns 0, or -1 with errno.
int clinux_pipe(int ends[2]);

/// Asks for a pipe of 1 MiB; a refusal does no harm.
void clinux_grow_pipe(int pipe);

/// A file in memory that holds these bytes, to be read from its start; close-on-exec. -1 with errno on failure.
int clinux_memory_file(const void *bytes, size_t count);

/// How many processors this process may use, at least 1.
int clinux_usable_cores(void);

/// A socket in a folder that listens for connections of the same machine, close-on-exec, not blocking, for its owner only.
/// `name` is short; the folder's path may be as long as it likes. Returns the descriptor, or -1 with errno.
int clinux_listen(int folder, const char *name);

/// Takes a connection; `*peer` is the user at its other end. Close-on-exec, not blocking. -1 with errno, EAGAIN when
/// there is none.
int clinux_accept(int listener, uid_t *peer);

/// Connects to a socket in a folder, to read and write with a limit in seconds on each wait. Close-on-exec. Returns the
/// descriptor, or -1 with errno.
int clinux_connect(int folder, const char *name, int limit);

/// The signals that are ignored now, because the parent ignored them.
void clinux_ignored_signals(sigset_t *set);

#endif
