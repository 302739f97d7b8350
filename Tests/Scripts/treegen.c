// treegen SHAPE stay|end FILE: makes a tree of processes of a shape that is hard to take down, and FILE once it stands.
// The first process stays, or ends with 0. Whoever counts survivors knows them by the program: a copy of it for each tree.
// treegen count: prints how many other processes of the same program live. Built with -pthread.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *program, *shape, *file;

static void stay(void) {
    for (;;) pause();
}

static void be_deaf(void) {
    for (int number = 1; number < 32; number++) signal(number, SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
}

static void close_all(int from) {
    for (int number = from; number < 64; number++) close(number);
}

// Runs `body` in a child that never returns.
static pid_t spawn(void (*body)(void)) {
    pid_t pid = fork();
    if (pid < 0) exit(99);
    if (pid == 0) {
        body();
        stay();
    }
    return pid;
}

static void quiet(void) { close_all(0); }

static void branch(void) {
    quiet();
    for (int count = 0; count < 2; count++) spawn(quiet);
}

static void orphan(void) {
    quiet();
    if (fork() != 0) _exit(0);
}

static void own_session(void) {
    setsid();
    quiet();
}

static void daemon_of_old(void) {
    if (fork() != 0) _exit(0);
    setsid();
    if (fork() != 0) _exit(0);
    if (chdir("/") != 0) _exit(98);
    quiet();
}

static void deaf(void) {
    be_deaf();
    quiet();
}

static void stopped(void) {
    quiet();
    raise(SIGSTOP);
}

static void pipe_holder(void) {
    setsid();
    close_all(2);
}

static void respawner(void) {
    setsid();
    deaf();
    for (;;) {
        spawn(deaf);
        while (wait(NULL) < 0) {}
    }
}

// Every process forks and ends at once. A look at all processes may miss it, so its group is written to a file.
static void comet(void) {
    FILE *group = fopen("group", "w");
    if (group == NULL || fprintf(group, "%d\n", getpgrp()) < 0 || fclose(group) != 0) _exit(95);
    quiet();
    for (;;) {
        pid_t pid = fork();
        if (pid > 0) _exit(0);
        if (pid < 0) usleep(1000);
    }
}

// The same in a session of its own, out of reach of a signal to the leader's group.
static void far_comet(void) {
    setsid();
    comet();
}

// A child of its parent's parent, which did not start it.
static void sibling(void) {
    if (syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0) == 0) {
        setsid();
        quiet();
        stay();
    }
}

static void *stay_in_thread(void *nothing) {
    stay();
    return nothing;
}

static void start_thread(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, stay_in_thread, NULL) != 0) exit(98);
}

// A process whose first thread has ended, so that it looks like a zombie.
static void headless(void) {
    setsid();
    quiet();
    start_thread();
    pthread_exit(NULL);
}

// Traces the first process and never waits for it.
static void tracer(void) {
    quiet();
    if (ptrace(PTRACE_SEIZE, getppid(), 0, 0) != 0) _exit(96);
}

// If the first thread has ended, only the other threads show the program.
static int runs(int pid, const struct stat *program) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *threads = opendir(path);
    if (threads == NULL) return 0;
    int found = 0;
    for (struct dirent *thread; !found && (thread = readdir(threads)) != NULL;) {
        struct stat other;
        snprintf(path, sizeof path, "/proc/%d/task/%.16s/exe", pid, thread->d_name);
        found = stat(path, &other) == 0 && program->st_ino == other.st_ino && program->st_dev == other.st_dev;
    }
    closedir(threads);
    return found;
}

static int count_others(void) {
    struct stat own;
    DIR *folder = opendir("/proc");
    if (folder == NULL || stat("/proc/self/exe", &own) != 0) return 1;
    int count = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        int pid = atoi(entry->d_name);
        if (pid > 0 && pid != getpid() && runs(pid, &own)) count++;
    }
    printf("%d\n", count);
    return 0;
}

static void scrub(void) {
    setsid();
    if (fork() != 0) _exit(0);
    quiet();
    char *const arguments[] = {"x", "pause", NULL}, *const environment[] = {NULL};
    execve(program, arguments, environment);
    _exit(97);
}

static const struct {
    const char *name;
    void (*body)(void);
    int count;
} shapes[] = {
    {"plain", NULL, 0},           {"fork", branch, 3},           {"doublefork", orphan, 3},
    {"setsid", own_session, 2},   {"daemon", daemon_of_old, 1},  {"deaf", deaf, 2},
    {"stopped", stopped, 2},      {"holdpipe", pipe_holder, 2},  {"leaderdies", pipe_holder, 1},
    {"respawn", respawner, 1},    {"comet", comet, 1},           {"scrub", scrub, 2},
    {"farcomet", far_comet, 1},   {"cloneparent", NULL, 0},      {"threadleader", headless, 2},
    {"traced", tracer, 1},
    // More than a page of numbers, which is what the kernel gives at a time of a list of children.
    {"crowd", quiet, 1200},
};

int main(int count, char **arguments) {
    if (count == 2 && strcmp(arguments[1], "pause") == 0) stay();
    if (count == 2 && strcmp(arguments[1], "count") == 0) return count_others();
    if (count != 4) return 64;
    program = arguments[0];
    shape = arguments[1];
    file = arguments[3];
    int stays = strcmp(arguments[2], "stay") == 0;
    size_t index = 0;
    while (index < sizeof shapes / sizeof *shapes && strcmp(shapes[index].name, shape) != 0) index++;
    if (index == sizeof shapes / sizeof *shapes) return 64;
    for (int made = 0; made < shapes[index].count; made++) spawn(shapes[index].body);
    if (strcmp(shape, "deaf") == 0) be_deaf();
    if (strcmp(shape, "cloneparent") == 0) {
        sibling();
        spawn(sibling);
    }
    // Grandchildren have their parents by now, or will be found without them.
    usleep(20000);
    close(open(file, O_WRONLY | O_CREAT, 0600));
    if (strcmp(shape, "leaderdies") == 0 || !stays) return 0;
    if (strcmp(shape, "stopped") == 0) raise(SIGSTOP);
    if (strcmp(shape, "threadleader") == 0) headless();
    stay();
}
