#define _GNU_SOURCE
#include "Guard.h"
#include "Cgroup.h"
#include "Folder.h"
#include "Jobserver.h"
#include "Privacy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Nothing in the guard allocates, and no Swift code runs in it: whatever kills the runner has to leave it alone.

static struct clinux_guard guard;
static pid_t runner;
// The request that the runner, which does not stop at once, has got and not carried out yet.
static enum { nothing, to_stop, to_go_on } asked;
static pid_t sentinel;
// Data that the runner leaves to the guard and the sentinel, in memory that all three share; NULL if there is none.
static struct estate {
    // 0 while there is none.
    pid_t sentinel;
    int is_ending;
    int has_lent_terminal;
    struct termios modes;
    // The absolute path of the folder to remove; empty if there is none.
    char temporary_folder[PATH_MAX];
    // The memory for `clinux_cgroup_share`, of `clinux_cgroup_size` bytes, then that for `clinux_share_tokens`.
    char cgroup[] __attribute__((aligned(16)));
} *estate;
// True if the process had children before it became a guard, as after `sh -c 'job & exec flowrun'`.
static int had_children;

const struct clinux_guard *clinux_guard(void) { return guard.pid != 0 ? &guard : NULL; }

// MARK: Marks

static const uint64_t highest_level = 63;
static const uint64_t command_bits = ((uint64_t)1 << CLINUX_MARK_RUN) - 1;

static uint64_t level_of(uint64_t mark) { return mark >> CLINUX_MARK_LEVEL; }

// Limits that were set for another purpose are far below, no limit is far above.
static int is_mark(uint64_t limit) { return level_of(limit) >= 1 && level_of(limit) <= highest_level; }

int clinux_mark(pid_t pid, uint64_t *mark) {
    struct rlimit limit;
    if (prlimit(pid, RLIMIT_RTTIME, NULL, &limit) != 0) return -errno;
    *mark = limit.rlim_max;
    return is_mark(limit.rlim_max);
}

uint64_t clinux_make_mark(void) {
    struct rlimit own;
    if (getrlimit(RLIMIT_RTTIME, &own) != 0) return 0;
    uint64_t level = highest_level;
    if (own.rlim_max != RLIM_INFINITY) {
        if (!is_mark(own.rlim_max) || level_of(own.rlim_max) == 1) return 0;
        level = level_of(own.rlim_max) - 1;
    }
    uint32_t run;
    if (getrandom(&run, sizeof run, GRND_NONBLOCK) != sizeof run) return 0;
    return level << CLINUX_MARK_LEVEL | (uint64_t)run << CLINUX_MARK_RUN;
}

// MARK: Children

// Returns the parent of a process by /proc; 0 if it is gone.
static pid_t parent_of(const char *pid) {
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t count = read(file, line, sizeof line - 1);
    close(file);
    if (count <= 0) return 0;
    line[count] = 0;
    // pid (name) state ppid: the name may hold anything, its last parenthesis ends it.
    char *end = strrchr(line, ')');
    return end != NULL && strlen(end) > 4 ? atoi(end + 4) : 0;
}

// Calls `visit` for every child of this process, or for the first ten thousand. Returns the sum of its results.
static int visit_children(int (*visit)(pid_t)) {
    // Not on the stack, which may be as small as its limit allows.
    static char text[1 << 16];
    int sum = 0;
    if (guard.children >= 0) {
        // The kernel gives a page at a time. The pieces fit together: only this process removes entries from the
        // list.
        size_t size = 0;
        for (ssize_t more; (more = pread(guard.children, text + size, sizeof text - 1 - size, (off_t)size)) > 0;)
            size += (size_t)more;
        text[size] = 0;
        char *next = text;
        for (;;) {
            char *end;
            long pid = strtol(next, &end, 10);
            // A number that is cut off by the end of the buffer is not one.
            if (end == next || *end != ' ') return sum;
            sum += visit((pid_t)pid);
            next = end;
        }
    }
    // A kernel that was built without such files: look at the parent of every process.
    int folder = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return 0;
    pid_t self = getpid();
    for (long count; (count = syscall(SYS_getdents64, folder, text, sizeof text)) > 0;) {
        for (long at = 0; at < count;) {
            struct dirent64 *entry = (struct dirent64 *)(text + at);
            at += entry->d_reclen;
            int pid = atoi(entry->d_name);
            if (pid > 0 && parent_of(entry->d_name) == self) sum += visit(pid);
        }
    }
    close(folder);
    return sum;
}

// Returns `yes` for a child that the run has left behind and that may not outlive it, `last` for the sentinel of a
// flowrun inside a step, and for what that one has detached.
static enum { no, yes, last } is_remains(pid_t pid) {
    if (pid == runner || pid == sentinel) return no;
    uint64_t mark;
    int known = clinux_mark(pid, &mark);
    if (known == 1 && guard.mark != 0) {
        const int is_bound = (mark & command_bits) != 0;
        if (mark >> CLINUX_MARK_RUN == guard.mark >> CLINUX_MARK_RUN) return is_bound ? yes : no;
        if (level_of(mark) < level_of(guard.mark)) return is_bound ? yes : last;
    }
    if (!had_children) return known != -ESRCH ? yes : no;
    pid_t session = getsid(pid);
    return guard.mark == 0 && session > 0 && session != getsid(0) ? yes : no;
}

static int kill_child(pid_t pid) {
    // Kills the whole group at once: it may be forking. It has this process in it and is not the guard's, so all of
    // it belongs to the run.
    pid_t group = getpgid(pid);
    if (group > 1 && group != getpgrp() && kill(-group, SIGKILL) == 0) return 1;
    return kill(pid, SIGKILL) == 0;
}

static int kill_remains(pid_t pid) { return is_remains(pid) == yes && kill_child(pid); }

static int kill_last_remains(pid_t pid) { return is_remains(pid) == last && kill_child(pid); }

void clinux_die_with_guard(int dies) {
    static int is_dying;
    if (guard.pid == 0 || dies == is_dying) return;
    is_dying = dies;
    prctl(PR_SET_PDEATHSIG, dies ? SIGKILL : SIGCONT, 0, 0, 0);
    if (dies && getppid() != guard.pid) kill(getpid(), SIGKILL);
}

void clinux_adopt_orphans(void) { prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

// MARK: The terminal

void clinux_note_terminal(const struct termios *modes) {
    if (estate == NULL) return;
    if (modes != NULL) estate->modes = *modes;
    __atomic_store_n(&estate->has_lent_terminal, modes != NULL, __ATOMIC_RELEASE);
}

// The borrower is dead by now. A shell that has taken the terminal lives, and keeps it.
static void take_terminal_back(void) {
    if (estate == NULL || !__atomic_load_n(&estate->has_lent_terminal, __ATOMIC_ACQUIRE)) return;
    int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (terminal < 0) return;
    pid_t group = tcgetpgrp(terminal);
    if (group == getpgrp() || (group > 0 && kill(group, 0) != 0 && errno == ESRCH)) {
        // Every signal is blocked, including SIGTTOU, which a process in the background gets for this.
        tcsetpgrp(terminal, getpgrp());
        tcsetattr(terminal, TCSANOW, &estate->modes);
    }
    close(terminal);
}

// MARK: The sentinel

pid_t clinux_sentinel(void) { return estate != NULL ? __atomic_load_n(&estate->sentinel, __ATOMIC_ACQUIRE) : 0; }

int clinux_wants_death_signal(void) { return estate != NULL && (guard.mark == 0 || clinux_sentinel() == 0); }

// Returns 0 if the machine has no process for it.
static int make_sentinel(void) {
    if (estate == NULL) return 1; // A sentinel could be told nothing.
    pid_t pid = fork();
    if (pid == 0) clinux_be_sentinel(&guard, runner, estate->temporary_folder, &estate->sentinel);
    sentinel = pid > 0 ? pid : 0;
    return pid > 0;
}

// Returns 1 if the child that ended is the sentinel.
static int forget_sentinel(const siginfo_t *info) {
    if (sentinel == 0 || info->si_pid != sentinel || info->si_code == CLD_STOPPED) return 0;
    sentinel = 0;
    __atomic_store_n(&estate->sentinel, 0, __ATOMIC_RELEASE);
    return 1;
}

static void end_sentinel(void) {
    if (sentinel == 0) return;
    kill(sentinel, SIGKILL);
    waitpid(sentinel, NULL, 0);
}

// MARK: The end

void clinux_announce_end(void) {
    if (estate == NULL) return;
    __atomic_store_n(&estate->is_ending, 1, __ATOMIC_RELEASE);
    syscall(SYS_pidfd_send_signal, guard.pidfd, SIGCHLD, NULL, 0);
}

// MARK: The temporary folder

void clinux_note_temporary_folder(const char *path) {
    if (estate == NULL) return;
    // A reader that comes while the path is being written sees an empty one.
    __atomic_store_n(&estate->temporary_folder[0], 0, __ATOMIC_RELEASE);
    if (path == NULL || path[0] != '/' || strlen(path) >= sizeof estate->temporary_folder) return;
    strcpy(estate->temporary_folder + 1, path + 1);
    __atomic_store_n(&estate->temporary_folder[0], '/', __ATOMIC_RELEASE);
}

static void remove_temporary_folder(void) {
    if (estate != NULL && estate->temporary_folder[0] != 0) clinux_remove_own_folder(estate->temporary_folder);
}

// MARK: The guard's life

static _Noreturn void end_as(const siginfo_t *ending) {
    if (ending->si_code == CLD_EXITED) _exit(ending->si_status);
    int number = ending->si_status;
    // No signal of its own ends PID 1.
    if (getpid() != 1) {
        // The core, if there is one, is the runner's.
        const struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        signal(number, SIG_DFL);
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, number);
        kill(getpid(), number);
        sigprocmask(SIG_UNBLOCK, &set, NULL);
    }
    _exit(128 + number);
}

static double seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

// Kills what the run has left behind. The children of killed processes become the guard's, so that after some rounds
// nothing is left; only a process that hangs in the kernel may take longer than the limit.
static void end_remains(void) {
    static const double limit = 10;
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    struct timespec wait = {.tv_nsec = 1000000};
    const double start = seconds();
    for (;;) {
        siginfo_t info;
        do {
            info.si_pid = 0;
            if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG) != 0) return;
            forget_sentinel(&info);
        } while (info.si_pid != 0);
        // A sentinel goes last: if this process is killed now, it ends the rest of its run.
        const int is_over = seconds() - start > limit;
        int killed = visit_children(kill_remains);
        if (killed == 0 || is_over) killed += visit_children(kill_last_remains);
        if (killed == 0 || is_over) return;
        sigtimedwait(&child, NULL, &wait);
        if (wait.tv_nsec < 16000000) wait.tv_nsec *= 2;
    }
}

// Kills what is left in leaves: a process that has removed its mark is still in its leaf.
static void end_leaves(void) {
    int left = clinux_cgroup_remove();
    end_remains();
    struct timespec wait = {.tv_nsec = 1000000};
    for (int round = 0; left && round < 2000; round++) {
        nanosleep(&wait, NULL);
        left = clinux_cgroup_remove();
        siginfo_t info;
        do {
            info.si_pid = 0;
            if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG) == 0) forget_sentinel(&info);
        } while (info.si_pid != 0);
    }
}

static int has_gone_on(void) {
    siginfo_t info = {0};
    return waitid(P_PID, runner, &info, WCONTINUED | WNOHANG | WNOWAIT) == 0 && info.si_pid == runner;
}

// Returns the same, and takes the report, so that the next call returns 1 only if the runner has gone on again.
static int hear_of_going_on(void) {
    siginfo_t info = {0};
    return waitid(P_PID, runner, &info, WCONTINUED | WNOHANG) == 0 && info.si_pid == runner;
}

// Returns 1 if that has woken the runner; otherwise it is yet to stop, if it ever does.
static int wake_runner(void) {
    if (!has_gone_on()) kill(runner, SIGCONT);
    return hear_of_going_on();
}

static int is_pending(int number) {
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, number) == 1;
}

// Seconds until a run gets a sentinel, and kills for memory are counted. Most are over by then.
static const double unwatched = 0.005;
// The time for both; 0 once they are done.
static double due_at;

// Returns 0 if the guard's own work is due first.
static int wait_for_signal(const sigset_t *all, siginfo_t *info) {
    for (;;) {
        if (due_at == 0) {
            if (sigwaitinfo(all, info) > 0) return 1;
            continue;
        }
        const double left = due_at - seconds();
        // A flood of signals does not postpone the work.
        if (left <= 0) return 0;
        const struct timespec time = {.tv_nsec = (long)(left * 1e9)};
        if (sigtimedwait(all, info, &time) > 0) return 1;
    }
}

// Does now what need not wait until the runner has ended.
static void prepare_end(void) {
    if (estate == NULL || !__atomic_load_n(&estate->is_ending, __ATOMIC_ACQUIRE)) return;
    due_at = 0;
    if (clinux_cgroup_remove_empty() == 0 && sentinel > 0) kill(sentinel, SIGKILL);
}

static void hear_of_children(void) {
    prepare_end();
    for (;;) {
        siginfo_t info = {0};
        if (waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOHANG) != 0 || info.si_pid == 0) return;
        // If it was killed, another one is due.
        if (forget_sentinel(&info) && !estate->is_ending) due_at = seconds() + unwatched;
        if (info.si_pid != runner) continue;
        switch (info.si_code) {
        case CLD_EXITED:
        case CLD_KILLED:
        case CLD_DUMPED:
            end_leaves();
            clinux_return_tokens();
            take_terminal_back();
            remove_temporary_folder();
            end_sentinel();
            end_as(&info);
        case CLD_STOPPED:
            // A CONT that came before the runner had stopped still has to wake it.
            if (asked == to_go_on && !is_pending(SIGTSTP)) wake_runner();
            // So that a shell sees its job stopped. CONT wakes the guard, which passes it on; a CONT that still waits
            // to be passed on would be lost with the stop.
            else if (!has_gone_on() && !is_pending(SIGCONT)) kill(getpid(), SIGSTOP);
            asked = nothing;
        }
    }
}

static void hand_on(const siginfo_t *info) {
    switch (info->si_signo) {
    // The terminal sends these to all processes that ask for them, and writers of pipes get PIPE themselves.
    case SIGTTIN:
    case SIGTTOU:
    case SIGPIPE:
    case SIGURG: return;
    case SIGTSTP: asked = to_stop; break;
    case SIGCONT:
        // The runner sends CONT when only the runner was woken.
        if (info->si_pid == runner ? hear_of_going_on() : wake_runner()) {
            asked = nothing;
        } else if (info->si_pid != runner && asked == to_stop) {
            asked = to_go_on;
        }
        return;
    }
    // The sender goes with it, 0 for the kernel: a signal to the whole group reaches the runner twice.
    const union sigval sender = {.sival_int = info->si_code == SI_KERNEL ? 0 : info->si_pid};
    if (sigqueue(runner, info->si_signo, sender) != 0 && errno == EAGAIN) kill(runner, info->si_signo);
}

static _Noreturn void keep_guard(const sigset_t *all) {
    due_at = seconds() + unwatched;
    clinux_cgroup_prepare();
    for (;;) {
        siginfo_t info;
        if (wait_for_signal(all, &info)) {
            if (info.si_signo == SIGCHLD) hear_of_children();
            else hand_on(&info);
        } else {
            // There may be no process for it now, but later.
            due_at = make_sentinel() ? 0 : seconds() + unwatched;
            clinux_cgroup_count();
        }
    }
}

int clinux_enter_guard(void) {
    if (guard.pid != 0) return 0; // It was made before main.
    // Hides guard and runner before a step could look at them.
    clinux_hide();
    guard.pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
    if (guard.pidfd < 0) return -errno;
    guard.children = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    guard.mark = clinux_make_mark();
    siginfo_t info;
    had_children = waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    // If it is ignored, children cannot be waited for.
    signal(SIGCHLD, SIG_DFL);
    sigset_t all, before, pending;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    // Signals that have already arrived are for the runner, which raises them for itself: a new process has none
    // pending.
    sigpending(&pending);
    const struct timespec at_once = {0};
    while (!sigisemptyset(&pending) && sigtimedwait(&pending, NULL, &at_once) > 0) {}
    const size_t tokens_at = (clinux_cgroup_size() + 15) & ~(size_t)15;
    const size_t size = sizeof *estate + tokens_at + clinux_tokens_size();
    estate = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (estate == MAP_FAILED) estate = NULL;
    const uint64_t name = guard.mark != 0 ? (guard.mark >> CLINUX_MARK_RUN) & UINT32_MAX : (uint64_t)getpid();
    if (estate != NULL) {
        clinux_cgroup_share((struct clinux_cgroup *)estate->cgroup, name);
        clinux_share_tokens(estate->cgroup + tokens_at);
    }
    guard.pid = getpid();
    runner = fork();
    if (runner > 0) keep_guard(&all);
    // A stopped runner would not notice that its guard has been killed.
    if (runner == 0) prctl(PR_SET_PDEATHSIG, SIGCONT, 0, 0, 0);
    int error = runner < 0 ? -errno : 0;
    for (int number = 1; number <= 64 && !sigisemptyset(&pending); number++) {
        if (sigismember(&pending, number) == 1) kill(getpid(), number);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (runner < 0) {
        close(guard.pidfd);
        if (guard.children >= 0) close(guard.children);
        prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
        guard.pid = 0;
        // Without a guard there are no leaves: nothing would remove them.
        clinux_cgroup_share(NULL, 0);
        clinux_share_tokens(NULL);
        if (estate != NULL) munmap(estate, size);
        estate = NULL;
    }
    return error;
}
