/* clockshift SECONDS PROGRAM [ARGUMENT...]: run a program as if the machine's clock had been set forward by so many
 * seconds, or back where they are negative. The monotonic clock goes on as it is, and what the program's children execute
 * sees the true time.
 *
 * The program cannot tell it from a machine whose clock was set: its calls are stopped (ptrace), and the times that the
 * kernel has answered are changed. Without a vDSO libc has to ask the kernel for each.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/auxvec.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 4096 };

/* A traced thread, and where the call that it is in writes a time. */
static struct thread {
    pid_t id;
    unsigned long time;
    int returns_time;
} threads[MOST_THREADS];

static long shift;

static struct thread *thread(pid_t id, int *is_new)
{
    struct thread *unused = NULL;
    for (struct thread *thread = threads; thread < threads + MOST_THREADS; thread++) {
        if (thread->id == id)
            return thread;
        if (thread->id == 0 && !unused)
            unused = thread;
    }
    if (!unused)
        exit(125);
    *unused = (struct thread){.id = id};
    *is_new = 1;
    return unused;
}

/* Returns a word of a process, and 0, which ends each search, once it has been killed. */
static long peek(pid_t id, unsigned long address)
{
    errno = 0;
    const long word = ptrace(PTRACE_PEEKDATA, id, (void *)address, NULL);
    return errno == 0 ? word : 0;
}

static void poke(pid_t id, unsigned long address, long word)
{
    ptrace(PTRACE_POKEDATA, id, (void *)address, (void *)word);
}

static struct __ptrace_syscall_info information(pid_t id)
{
    struct __ptrace_syscall_info info = {0};
    ptrace(PTRACE_GET_SYSCALL_INFO, id, (void *)sizeof info, &info);
    return info;
}

/* Takes the vDSO away from a program that has just been loaded: its entry behind arguments and environment. */
static void hide_vdso(pid_t id)
{
    unsigned long at = information(id).stack_pointer;
    at += (peek(id, at) + 2) * sizeof(long);
    while (peek(id, at))
        at += sizeof(long);
    for (at += sizeof(long); peek(id, at) != AT_NULL; at += 2 * sizeof(long))
        if (peek(id, at) == AT_SYSINFO_EHDR)
            poke(id, at, AT_IGNORE);
}

static void note_call(struct thread *thread, const struct __ptrace_syscall_info *info)
{
    thread->time = 0;
    thread->returns_time = 0;
    switch (info->entry.nr) {
    case SYS_clock_gettime:
        if (info->entry.args[0] == CLOCK_REALTIME || info->entry.args[0] == CLOCK_REALTIME_COARSE)
            thread->time = info->entry.args[1];
        break;
    case SYS_gettimeofday:
        thread->time = info->entry.args[0];
        break;
#ifdef SYS_time
    case SYS_time:
        thread->time = info->entry.args[0];
        thread->returns_time = 1;
        break;
#endif
    }
}

static void change_answer(struct thread *thread, const struct __ptrace_syscall_info *info)
{
    if (info->exit.is_error)
        return;
    if (thread->time)
        poke(thread->id, thread->time, peek(thread->id, thread->time) + shift);
#ifdef __x86_64__
    if (thread->returns_time)
        ptrace(PTRACE_POKEUSER, thread->id, (void *)offsetof(struct user, regs.rax), (void *)(info->exit.rval + shift));
#endif
}

int main(int count, char **words)
{
    if (count < 3) {
        fprintf(stderr, "usage: clockshift SECONDS PROGRAM [ARGUMENT...]\n");
        return 64;
    }
    shift = atol(words[1]);
    pid_t first = fork();
    if (first == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        execvp(words[2], words + 2);
        _exit(127);
    }
    int status, result = 0, is_new;
    if (first < 0 || waitpid(first, &status, 0) != first)
        return 125;
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE
        | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    ptrace(PTRACE_SETOPTIONS, first, NULL, (void *)options);
    thread(first, &is_new);
    ptrace(PTRACE_SYSCALL, first, NULL, NULL);
    for (;;) {
        pid_t id = waitpid(-1, &status, __WALL);
        if (id < 0 && errno == EINTR)
            continue;
        if (id < 0)
            break;
        is_new = 0;
        struct thread *stopped = thread(id, &is_new);
        if (!WIFSTOPPED(status)) {
            stopped->id = 0;
            if (id == first)
                result = status;
            continue;
        }
        int received = WSTOPSIG(status), event = status >> 16;
        if (event == PTRACE_EVENT_EXEC && id != first) {
            ptrace(PTRACE_DETACH, id, NULL, NULL);
            stopped->id = 0;
            continue;
        }
        if (event == PTRACE_EVENT_EXEC)
            hide_vdso(id);
        if (received == (SIGTRAP | 0x80)) {
            struct __ptrace_syscall_info info = information(id);
            if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
                note_call(stopped, &info);
            else if (info.op == PTRACE_SYSCALL_INFO_EXIT)
                change_answer(stopped, &info);
        }
        /* A stop of ptrace's own, or that of a thread which has just been made, is no signal to the program. */
        int is_own = received == (SIGTRAP | 0x80) || event || (is_new && received == SIGSTOP);
        ptrace(PTRACE_SYSCALL, id, NULL, (void *)(long)(is_own ? 0 : received));
    }
    if (WIFSIGNALED(result)) {
        signal(WTERMSIG(result), SIG_DFL);
        raise(WTERMSIG(result));
    }
    return WEXITSTATUS(result);
}
