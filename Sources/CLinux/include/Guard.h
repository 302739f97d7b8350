// The guard: the process that was started, which outlives the runner, the process that does the work. The sentinel: the
// process that ends a run's processes when guard and runner are killed together.
#ifndef CLINUX_GUARD_H
#define CLINUX_GUARD_H

#include <stdint.h>
#include <sys/types.h>
#include <termios.h>

/// The facts that a runner knows about its guard.
struct clinux_guard {
    pid_t pid;
    int pidfd;     // readable once the guard has ended; close-on-exec
    int children;  // the guard's /proc/PID/task/PID/children, to be read from its start; -1 where the kernel has none
    uint64_t mark; // what the marks of this run's processes have in common; 0 where none can be set
};

/// Makes the calling process the guard of a new one and returns in the new one, the runner, with the caller's signal
/// mask. Does nothing in a runner, which has a guard already. Called while there is only one thread. The guard never
/// returns: it adopts and reaps what the run's processes leave behind, passes the signals that it gets on to the
/// runner, stops when the runner stops, and ends as the runner has ended, once it has killed what is left of the run.
/// Returns 0, or a negative error number if there is no process for the runner; the caller may go on without a guard.
int clinux_enter_guard(void);

/// Returns the guard of this process; NULL if it has none.
const struct clinux_guard *clinux_guard(void);

/// With 1, the kernel kills this process when its guard has been killed; with 0 again, it goes on then, also if it is
/// stopped. For the time in which nothing watches the guard. Does nothing without a guard.
void clinux_die_with_guard(int dies);

/// Makes the calling process adopt the orphans below it, for a runner whose guard has ended.
void clinux_adopt_orphans(void);

/// Notes for the guard that the terminal is lent to a command, with the modes to restore; NULL: it is not lent. If
/// the runner dies meanwhile, the guard takes the terminal back.
void clinux_note_terminal(const struct termios *modes);

/// Notes for the guard the absolute path of a folder to remove when the run ends, however it ends; NULL: there is
/// none any more.
void clinux_note_temporary_folder(const char *path);

/// Tells the guard that nothing of the run is left and that this process is about to end. What the guard has to clear
/// away takes no extra time then.
void clinux_announce_end(void);

/// Returns the process number of the sentinel, a child of the guard that ends what guard and runner leave when both
/// are killed together; 0 if there is none, as in the first five milliseconds.
pid_t clinux_sentinel(void);

/// Returns 1 if a new process has to ask the kernel to end it with the runner, because no sentinel would find it.
int clinux_wants_death_signal(void);

/// A mark is a limit on real-time scheduling (RLIMIT_RTTIME) that nothing ever reaches: every process inherits it,
/// across fork, exec and a new session, and a process that may signal another can read its mark. Bits 56 to 62 are
/// the level, which falls by one with each flowrun inside another, because a limit can only be lowered. Bits 24 to 55
/// name the run, bits 0 to 23 the command; 0 is a command whose processes may outlive the run.
enum { CLINUX_MARK_LEVEL = 56, CLINUX_MARK_RUN = 24 };

/// Makes a mark for a new run with the command 0; 0 if none can be set.
uint64_t clinux_make_mark(void);

/// Reads the mark of a process, also of a zombie. Returns 1, 0 if the process has none, or a negative error number:
/// -ESRCH if the process is gone.
int clinux_mark(pid_t pid, uint64_t *mark);

/// Kills all processes that have a run's mark and may not outlive it, children or not, and waits until they are dead;
/// only a process that hangs in the kernel may take longer than `limit`, in seconds. For this process' own run it
/// also empties the cgroup leaves. Leaves the process group `spared` alone. Allocates nothing.
void clinux_end_marked(uint64_t mark, pid_t spared, double limit);

/// Makes the calling process, a child of the guard, the sentinel of a run. It takes a name, a session and a process
/// group of its own, and writes its process number to `*standing`. While guard or runner lives it only wakes a stopped
/// guard whose runner has ended. When both are gone, it ends what they have left and removes `folder`, a path that may
/// be empty. The guard kills it at its own end.
_Noreturn void clinux_be_sentinel(const struct clinux_guard *guard, pid_t runner, const char *folder, pid_t *standing);

#endif
