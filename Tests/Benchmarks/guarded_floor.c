// guarded_floor COUNT JOBS COMMAND [ARGUMENT...]: runs a command COUNT times, JOBS at once, with what flowrun promises
// of processes and records, and does nothing else: no program that promises the same can cost less. Keeps its state in
// `.guarded` of the working directory. Exit 1 if any command failed, 64 for usage, 125 for trouble of its own.
//
// - A guard outlives the runner and kills what that leaves; if the guard is killed, the runner does.
// - A command has a session, default signals, no input, a mark that all its processes inherit, and a cgroup. It is over
//   once its output is at the end, the cgroup is empty and no orphan has the mark; after two seconds what is left dies.
// - A lock names the run. If guard and runner were killed together, the next start empties that run's cgroups.
// - Before the runner waits, the journal has all that has happened, and standard output a line for each end.
//
// What flowrun has beyond this costs a step nothing: a sentinel, a grace, job control, a control socket. What no
// benchmark does is done the short way: all others wait while a command's leftovers get their two seconds.
#define _GNU_SOURCE
#include <limits.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/uio.h>

#include "guarded_guard.h"
#include "guarded_records.h"

enum { stackSize = 8192, readSize = 64 << 10 };
enum { watchDelay = 2000, drainLooks = 2000 }; // in microseconds; in milliseconds

// A place for one command at a time. Its memory is the child's too, until that has become its program.
struct slot {
    int leaf, events, number;                 // its cgroup; -1: none
    int isRunning, pidfd, writing, execError; // the child writes the error
    pid_t pid;
    uint64_t mark;
    long start;
    int output;
    struct pollfd *process, *pipe;
    char step[64], key[96], *name, *numbers[2], **environment;
    char stack[stackSize] __attribute__((aligned(16)));
};

static long total, jobs, begun, active, failed;
static struct slot *slots;
static struct pollfd *polls; // the guard's, then two of each slot
static int lock, leafNumber;
static char **command, *program;
static uint64_t ignored; // signals: n is bit n - 1

// MARK: A command

// The child has this process' memory, and with it the C library's: it makes only system calls that touch neither.
static inline __attribute__((always_inline)) long call(long number, long a, long b, long c, long d) {
#if defined(__x86_64__)
    long result;
    register long fourth __asm__("r10") = d;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                     : "rcx", "r11", "memory");
    return result;
#else
    const long result = syscall(number, a, b, c, d);
    return result < 0 ? -errno : result;
#endif
}

static _Noreturn int become_command(void *argument) {
    struct slot *const slot = argument;
    static const uint64_t nothing[4];
    const uint64_t limit[2] = {slot->mark, slot->mark};
    long result;
    for (uint64_t left = ignored; left != 0; left &= left - 1)
        call(SYS_rt_sigaction, __builtin_ctzll(left) + 1, (long)nothing, 0, 8);
    call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0); // for want of a sentinel
    if ((result = call(SYS_setsid, 0, 0, 0, 0)) >= 0 &&
        (result = call(SYS_prlimit64, 0, RLIMIT_RTTIME, (long)limit, 0)) >= 0 &&
        (result = call(SYS_dup3, slot->writing, STDOUT_FILENO, 0, 0)) >= 0 &&
        (result = call(SYS_dup3, slot->writing, STDERR_FILENO, 0, 0)) >= 0 &&
        (result = call(SYS_rt_sigprocmask, SIG_SETMASK, (long)nothing, 0, 8)) >= 0)
        result = call(SYS_execve, (long)program, (long)command, (long)slot->environment, 0);
    slot->execError = (int)-result;
    for (;;) call(SYS_exit_group, 127, 0, 0, 0);
}

// Starts the child in its cgroup, on its own stack, and does not wait for its exec. Returns its number, or an error.
static long clone_into(struct slot *slot) {
#if defined(__x86_64__)
    const struct { uint64_t flags, pidfd, tid, parent, signal, stack, size, tls, set, count, cgroup; } wishes = {
        .flags = CLONE_VM | CLONE_PIDFD | (slot->leaf >= 0 ? 1ULL << 33 : 0), // CLONE_INTO_CGROUP
        .pidfd = (uintptr_t)&slot->pidfd,
        .signal = SIGCHLD,
        .stack = (uintptr_t)slot->stack,
        .size = stackSize,
        .cgroup = slot->leaf >= 0 ? (uint64_t)slot->leaf : 0,
    };
    long result;
    register int (*start)(void *) __asm__("r12") = become_command;
    register void *argument __asm__("r13") = slot;
    __asm__ volatile("syscall\n\ttest %%rax, %%rax\n\tjnz 1f\n\txor %%ebp, %%ebp\n\tmov %[argument], %%rdi\n\t"
                     "call *%[start]\n\tud2\n1:"
                     : "=a"(result)
                     : "a"(SYS_clone3), "D"(&wishes), "S"(sizeof wishes), [start] "r"(start), [argument] "r"(argument)
                     : "rcx", "r11", "memory");
    return result;
#else
    (void)slot;
    return -ENOSYS;
#endif
}

static void start(struct slot *slot) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) give_up("make a pipe");
    if (slot->leaf < 0 && can_have_leaves()) slot->leaf = open_leaf(slot->number, &slot->events);
    slot->output = ends[0];
    slot->writing = ends[1];
    slot->execError = 0;
    for (int at = 0; at < 2; at++) *put_number(slot->numbers[at], (unsigned long)begun, 5) = 0;
    slot->mark = runName << runBits | (uint64_t)(begun++ % ((1 << runBits) - 1) + 1);
    long pid = clone_into(slot);
    if (pid < 0 && pid != -EAGAIN && pid != -ENOMEM) {
        // The kernel does not let processes into the cgroup, or this runs under valgrind, which knows no such clone.
        shared->state = impossible;
        can_have_leaves();
        slot->leaf = -1;
        const int flags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD;
        pid = clone(become_command, slot->stack + stackSize, flags, slot, &slot->pidfd);
    }
    if (pid < 0) give_up("start a process");
    close(ends[1]);
    slot->pid = (pid_t)pid;
    slot->start = now;
    slot->isRunning = 1;
    slot->process->fd = slot->pidfd;
    active += 1;
    note_start(slot->name, slot->pid);
}

static void close_output(struct slot *slot) {
    close(slot->output);
    slot->output = slot->pipe->fd = -1;
}

static void read_output(struct slot *slot) {
    static char bytes[readSize];
    for (int reads = 0; slot->output >= 0 && reads < 32; reads++) {
        // The read itself says that it does not wait, which saves a call before it.
        const struct iovec piece = {bytes, sizeof bytes};
        ssize_t size = preadv2(slot->output, &piece, 1, -1, RWF_NOWAIT);
        if (size < 0 && errno == EOPNOTSUPP && fcntl(slot->output, F_SETFL, O_NONBLOCK) == 0)
            size = read(slot->output, bytes, sizeof bytes);
        if (size < 0) return;
        if (size > 0) note_output(slot->name, bytes, (size_t)size);
        else close_output(slot);
    }
}

// Waits until nothing of a command is left whose first process is reaped; after two seconds it is killed.
static void drain(struct slot *slot) {
    int isKilled = 0;
    for (int looks = 0;; looks++) {
        read_output(slot);
        const int isLeft = (slot->leaf >= 0 && is_populated(slot->events)) || has_orphans(slot->mark, 0, 0);
        if (!isLeft && (slot->output < 0 || looks >= drainLooks)) break;
        if (isLeft && looks >= drainLooks) {
            if (slot->leaf >= 0) kill_leaf(runName, slot->number);
            has_orphans(slot->mark, 0, 1);
            isKilled = 1;
        }
        usleep(1000);
        read_clocks();
    }
    if (slot->output >= 0) close_output(slot);
    if (!isKilled || slot->leaf < 0) return;
    // Linux also kills what begins later in a cgroup that was killed. The guard removes it.
    close(slot->events);
    close(slot->leaf);
    slot->leaf = -1;
    slot->number = leafNumber++;
}

static void reap(struct slot *slot) {
    siginfo_t ending = {0};
    struct rusage usage;
    // The C library's function does not hand out what the process has used.
    if (syscall(SYS_waitid, P_PIDFD, slot->pidfd, &ending, WEXITED | WNOHANG, &usage) != 0) give_up("reap a process");
    if (ending.si_pid == 0) return; // its tracer hears of it first
    drain(slot);
    close(slot->pidfd);
    slot->process->fd = -1;
    slot->isRunning = 0;
    active -= 1;
    const char *const containment = slot->leaf >= 0 ? "cgroup" : "guard";
    failed += !note_end(slot->name, &ending, &usage, slot->execError, now - slot->start, containment);
}

// MARK: The run

static _Noreturn void end_without_guard(void) {
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    for (struct slot *slot = slots; slot < slots + jobs; slot++)
        if (slot->isRunning) kill(-slot->pid, SIGKILL);
    while (remove_leaves(runName, shared->leaves)) usleep(1000);
    fprintf(stderr, "guarded_floor: the guard was killed\n");
    _exit(125);
}

// One turn of the loop. The outputs are watched after a while: most are at their end by then.
static void wait_for_events(void) {
    long due = LONG_MAX;
    for (struct slot *slot = slots; slot < slots + jobs; slot++)
        if (slot->isRunning && slot->output >= 0 && slot->pipe->fd < 0 && slot->start + watchDelay < due)
            due = slot->start + watchDelay;
    const int limit = due == LONG_MAX ? -1 : due <= now ? 0 : (int)((due - now + 999) / 1000);
    if (poll(polls, 1 + 2 * (nfds_t)jobs, limit) < 0 && errno != EINTR) give_up("wait");
    read_clocks();
    if (polls[0].revents != 0) end_without_guard();
    for (struct slot *slot = slots; slot < slots + jobs; slot++) {
        if (!slot->isRunning) continue;
        if (slot->process->revents != 0) reap(slot);
        else if (slot->pipe->revents != 0) read_output(slot);
        else if (now >= slot->start + watchDelay) slot->pipe->fd = slot->output;
    }
}

// The process that was started, the run, its mark and state, and the sum of these. Spaces cover a longer line.
static void enter_lock(const char *state) {
    char line[65];
    int size = sprintf(line, "%d %s %010llx %s", guardPid, run, (unsigned long long)runName, state);
    size += sprintf(line + size, " %08lx", checksum(line, line + size));
    memset(line + size, ' ', (size_t)(63 - size));
    line[63] = '\n';
    if (pwrite(lock, line, 64, 0) != 64) give_up("write the lock");
}

static void make_files(void) {
    char line[65] = "", state[16], place[80];
    unsigned long long last;
    mkdir(".guarded", 0700);
    lock = open(".guarded/lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) != 0 || pread(lock, line, 64, 0) < 0) give_up("lock .guarded");
    if (sscanf(line, "%*d %*s %llx %15s", &last, state) == 2 && strcmp(state, "ended") != 0 && can_have_leaves())
        while (remove_leaves(last, 4096)) usleep(1000);
    enter_lock("journal");
    mkdir(".guarded/runs", 0700);
    mkdir(strcat(strcpy(place, ".guarded/runs/"), run), 0700);
    journal.file = open(strcat(place, "/journal.jsonl"), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    // Marks it as one that is being written.
    struct flock hold = {.l_type = F_WRLCK};
    if (journal.file < 0 || fcntl(journal.file, F_OFD_SETLK, &hold) != 0) give_up("make a journal");
    note_run(run, runName, total, jobs);
    write_out(&journal);
}

static void make_slots(void) {
    static char runVariable[48];
    size_t size = 0;
    while (environ[size] != NULL) size++;
    slots = calloc((size_t)jobs, sizeof *slots);
    polls = calloc(1 + 2 * (size_t)jobs, sizeof *polls);
    char **environments = calloc((size_t)jobs, (size + 6) * sizeof *environments);
    if (slots == NULL || polls == NULL || environments == NULL) give_up("get memory");
    sprintf(runVariable, "FLOWRUN_RUN=%s", run);
    polls[0] = (struct pollfd){.fd = guard, .events = POLLIN};
    for (long at = 0; at < jobs; at++) {
        struct slot *const slot = slots + at;
        slot->leaf = -1;
        slot->number = leafNumber++;
        slot->process = polls + 1 + 2 * at;
        slot->pipe = slot->process + 1;
        *slot->process = *slot->pipe = (struct pollfd){.fd = -1, .events = POLLIN};
        slot->name = slot->step + sprintf(slot->step, "FLOWRUN_STEP=");
        slot->numbers[0] = slot->name + sprintf(slot->name, "step-");
        slot->numbers[1] = slot->key + sprintf(slot->key, "FLOWRUN_IDEMPOTENCY_KEY=%s/step-", run);
        char **next = slot->environment = environments + (size_t)at * (size + 6);
        for (char **entry = environ; *entry != NULL; entry++)
            if (strncmp(*entry, "FLOWRUN_", 8) != 0) *next++ = *entry;
        char *const own[] = {runVariable, slot->step, slot->key, "FLOWRUN_ATTEMPT=1", "FLOWRUN_ROUND=0"};
        memcpy(next, own, sizeof own);
    }
}

// Finds the program along the PATH, once. Returns 0 if there is none.
static int find_program(void) {
    static char candidate[4096];
    program = command[0];
    if (strchr(program, '/') != NULL) return 1;
    char *folders = strdup(getenv("PATH") != NULL ? getenv("PATH") : "/bin:/usr/bin");
    for (const char *folder; (folder = strsep(&folders, ":")) != NULL;) {
        struct stat status;
        snprintf(candidate, sizeof candidate, "%s/%s", *folder != 0 ? folder : ".", command[0]);
        program = candidate;
        if (access(program, X_OK) == 0 && stat(program, &status) == 0 && S_ISREG(status.st_mode)) return 1;
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 4 || (total = atol(argv[1])) < 0 || (jobs = atol(argv[2])) < 1) {
        fprintf(stderr, "usage: guarded_floor COUNT JOBS COMMAND [ARGUMENT...]\n");
        return 64;
    }
    command = argv + 3;
    enter_guard();
    if (!find_program()) {
        fprintf(stderr, "guarded_floor: cannot find %s\n", command[0]);
        return 1;
    }
    syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 4); // CLOSE_RANGE_CLOEXEC
    for (int number = 1; number <= 64; number++) {
        struct sigaction action;
        if (sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN) ignored |= 1ULL << (number - 1);
    }
    // All commands inherit it, and have nothing to open or move.
    close(STDIN_FILENO);
    if (open("/dev/null", O_RDONLY) != STDIN_FILENO) give_up("open /dev/null");
    note_words(command);
    read_clocks();
    begin = now;
    read_clocks();
    make_slots();
    make_files();
    while (begun < total || active > 0) {
        for (struct slot *slot = slots; slot < slots + jobs && begun < total; slot++)
            if (!slot->isRunning) start(slot);
        write_out(&journal);
        write_out(&report);
        wait_for_events();
    }
    note_run_end(total - failed, failed);
    write_out(&journal);
    write_out(&report);
    enter_lock("ended");
    return failed > 0;
}
