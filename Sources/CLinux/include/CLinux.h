// The few Linux calls that Swift cannot make by itself, and the headers they come from.
#ifndef CLINUX_H
#define CLINUX_H

#include <malloc.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/types.h>

#include "Cgroup.h"
#include "Folder.h"
#include "Guard.h"
#include "Jobserver.h"
#include "Privacy.h"
#include "Start.h"

/// The parts of a new process, and the error that kept it from becoming its program. Everything that the pointers
/// lead to stays unchanged until the process is reaped.
struct clinux_child {
    const char *path;              // no search: absolute, or relative to the working directory
    char *const *argv;
    char *const *envp;
    const char *working_directory; // NULL: the caller's
    int standard_input;            // these three are above 2
    int standard_output;
    int standard_error;
    uint64_t defaulted;            // signals that get their default action; signal n is bit n - 1
    uint64_t mark;                 // 0: none
    uint64_t descriptors[2];       // limit on descriptors, soft and hard; 0: the caller's
    int leaf;                      // the folder of a cgroup for it; 0: the caller's. 0 afterwards where that is refused
    int ends_with_parent;          // KILL once the calling thread has ended
    int jobserver;                 // becomes descriptor 9; above that; 0: none
    int terminal;                  // the caller's controlling terminal, which the child gets for itself; 0: none

    // Written by the child; to be read once it is reaped.
    int error;                     // 0, or the error number of the call that failed; the exit status is 127 then
    int failed_call;               // which it was
};

enum { CLINUX_FAILED_SETUP, CLINUX_FAILED_CHDIR, CLINUX_FAILED_EXEC };

/// Starts a process as the leader of a new session or, with a terminal, of a new process group, which becomes the
/// terminal's foreground group: no descriptor above 2 but 9, empty signal mask. Returns its number, or a negative error
/// number. The process is a child to be reaped by `clinux_reap`; `*pidfd` is close-on-exec and belongs to the caller.
/// `child` and `stack` belong to the new process until it is reaped. From one thread only.
pid_t clinux_spawn(struct clinux_child *child, void *stack, int *pidfd);

/// Makes a stack for `clinux_spawn` with a guard page below it; NULL with errno if there is no memory.
void *clinux_make_stack(void);
void clinux_free_stack(void *stack);

/// Makes all descriptors above 2 close-on-exec, and promises that later ones are opened so. New processes need not
/// close anything then.
void clinux_close_all_on_exec(void);

/// The end of a process and the resources that it used.
struct clinux_ending {
    int code;   // CLD_EXITED, CLD_KILLED or CLD_DUMPED
    int status; // exit status or signal number
    struct rusage usage;
};

/// Reaps the process behind a pidfd. Returns 1 if it has ended, 0 if it has not, or a negative error number.
int clinux_reap(int pidfd, struct clinux_ending *ending);

/// Returns the signal that has stopped the child behind a pidfd since the last call; 0 if none has.
int clinux_stop_of(int pidfd);

/// renameat2(2) that replaces nothing; -1 with errno on failure.
int clinux_rename_new(int folder, const char *name, int new_folder, const char *new_name);

/// pidfd_open(2) and pidfd_send_signal(2); -1 with errno on failure.
int clinux_pidfd_open(pid_t pid);
int clinux_pidfd_send_signal(int pidfd, int signal);

/// Signals the process group that the process behind a pidfd has led, also when that process is reaped. -1 with
/// errno: ESRCH if no process is left in it, EINVAL before Linux 6.9.
int clinux_pidfd_signal_group(int pidfd, int signal);

/// Makes a pipe, close-on-exec; the read end does not block, the write end does, as programs expect of their standard
/// output. Returns 0, or a negative error number.
int clinux_pipe(int *reading, int *writing);

/// Asks the kernel for a pipe of that many bytes; a refusal does no harm.
void clinux_grow_pipe(int pipe, size_t size);

/// Makes a file in memory that holds these bytes, to be read from its start; close-on-exec. -1 with errno on failure.
int clinux_memory_file(const void *bytes, size_t count);

/// Returns the number of processors that this process may use, at least 1.
int clinux_usable_cores(void);

/// Locks bytes of a file, from `start` on; with a length of 0, all behind it, too. The lock belongs to the open file:
/// it ends with the last process that has it open, and two openings exclude each other even in one process. With
/// `waits`, waits for other owners. Returns 0, or -1 with errno, EAGAIN if another one has locked any of them.
int clinux_lock_range(int file, off_t start, off_t length, int waits);

/// Gives bytes up that `clinux_lock_range` has locked, or some of them. Returns 0, or -1 with errno.
int clinux_unlock_range(int file, off_t start, off_t length);

/// Returns 1 if another opening of the file has locked any of these bytes, 0 if none has, -1 with errno.
int clinux_range_is_locked(int file, off_t start, off_t length);

/// Makes a socket in a folder that listens for connections from the same machine, close-on-exec, not blocking, for
/// its owner only. `name` is short; the folder's path may be as long as it likes. Returns the descriptor, or -1 with
/// errno.
int clinux_listen(int folder, const char *name);

/// Accepts a connection; `*peer` is the user at its other end. Close-on-exec, not blocking. -1 with errno, EAGAIN if
/// there is none.
int clinux_accept(int listener, uid_t *peer);

/// Connects to a socket in a folder, to read and write with a limit in seconds on each wait. Close-on-exec. Returns
/// the descriptor, or -1 with errno.
int clinux_connect(int folder, const char *name, int limit);

/// Writes to a pipe as much as it takes without waiting, whatever its flags. Returns the number of bytes, or -1 with
/// errno: EAGAIN if nothing was written, EOPNOTSUPP, EINVAL or ENOSYS if the kernel cannot do that.
ssize_t clinux_write_now(int pipe, const void *bytes, size_t count);

/// Returns 1 if two descriptors are the same terminal, one of which may be called /dev/tty.
int clinux_same_terminal(int left, int right);

/// Returns the signals that are ignored now; signal n is bit n - 1. If none has a handler, `clinux_spawn` relies on it
/// from then on, and leaves the signal mask alone.
uint64_t clinux_ignored_signals(void);

#endif
