// The records of guarded_floor: a journal as flowrun's, each line with its checksum, and a log for people.
#ifndef GUARDED_RECORDS_H
#define GUARDED_RECORDS_H

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { textSize = 1 << 20 };

// Text on its way to a file. Half of it is free when a record begins.
struct text { int file; char *at, *start; };

static char journalBytes[textSize], reportBytes[textSize], wordBytes[textSize / 8], definition[40], stamp[96];
static struct text journal = {-1, journalBytes, journalBytes}, report = {STDOUT_FILENO, reportBytes, reportBytes};
static long begin, now, sequence; // in microseconds, as all times here; `now` since the run began

static _Noreturn void give_up(const char *what) {
    fprintf(stderr, "guarded_floor: cannot %s: %s\n", what, strerror(errno));
    exit(125);
}

// MARK: Text

static void write_out(struct text *text) {
    ssize_t count;
    for (const char *from = text->start; from < text->at; from += count)
        if ((count = write(text->file, from, (size_t)(text->at - from))) < 0) give_up("write its records");
    text->at = text->start;
}

static char *put_number(char *at, unsigned long number, int digits) {
    int count = 1;
    for (unsigned long rest = number / 10; rest > 0; rest /= 10) count++;
    if (count < digits) count = digits;
    for (int place = count; place > 0; number /= 10) at[--place] = (char)('0' + number % 10);
    return at + count;
}

// %s is a text, all others are a long: %d decimal, %6 of six digits, %x eight hexadecimal digits, %t microseconds as
// seconds, %m with three digits. printf takes 20,000 instructions for what a step needs.
static void put(struct text *text, const char *format, ...) {
    va_list values;
    va_start(values, format);
    char *at = text->at;
    for (const char *sign;; format = sign + 2) {
        sign = strchrnul(format, '%');
        at = mempcpy(at, format, (size_t)(sign - format));
        if (*sign == 0) break;
        if (sign[1] == 's') {
            at = stpcpy(at, va_arg(values, const char *));
            continue;
        }
        const long value = va_arg(values, long);
        switch (sign[1]) {
        case 'd': at = put_number(at, (unsigned long)value, 1); break;
        case '6': at = put_number(at, (unsigned long)value, 6); break;
        case 'x':
            for (int shift = 28; shift >= 0; shift -= 4) *at++ = "0123456789abcdef"[value >> shift & 15];
            break;
        default:
            at = put_number(at, (unsigned long)value / 1000000, 1);
            *at++ = '.';
            if (sign[1] == 't') at = put_number(at, (unsigned long)value % 1000000, 6);
            else at = put_number(at, (unsigned long)value / 1000 % 1000, 3);
        }
    }
    text->at = at;
    va_end(values);
}

// Puts a text as JSON, in up to six bytes each and two.
static void put_quoted(struct text *text, const char *bytes, size_t count) {
    char *at = text->at;
    *at++ = '"';
    for (const char *end = bytes + count; bytes < end; bytes++) {
        if (*bytes == '"' || *bytes == '\\') *at++ = '\\';
        if ((unsigned char)*bytes >= 0x20) *at++ = *bytes;
        else at += sprintf(at, "\\u%04x", *bytes);
    }
    *at++ = '"';
    text->at = at;
}

// The sum of RFC 3720.
#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static long checksum(const char *from, const char *end) {
    uint64_t sum = ~0U, word;
    for (; end - from >= 8; from += 8) sum = __builtin_ia32_crc32di(sum, *(uint64_t *)memcpy(&word, from, 8));
    for (; from < end; from++) sum = __builtin_ia32_crc32qi((uint32_t)sum, (unsigned char)*from);
    return (uint32_t)~sum;
}
#else
static long checksum(const char *from, const char *end) {
    uint32_t sum = ~0U;
    for (; from < end; from++) {
        sum ^= (unsigned char)*from;
        for (int bit = 0; bit < 8; bit++) sum = sum >> 1 ^ (0x82F63B78 & -(sum & 1));
    }
    return (uint32_t)~sum;
}
#endif

// MARK: Records

// One reading of the clocks for all that happens at once, and the words that its records share.
static void read_clocks(void) {
    static time_t second = -1;
    static char date[32];
    struct timespec monotonic, wall;
    struct tm parts;
    clock_gettime(CLOCK_MONOTONIC, &monotonic);
    clock_gettime(CLOCK_REALTIME, &wall);
    now = monotonic.tv_sec * 1000000 + monotonic.tv_nsec / 1000 - begin;
    if (wall.tv_sec != second) strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", gmtime_r(&wall.tv_sec, &parts));
    second = wall.tv_sec;
    struct text text = {-1, stamp, stamp};
    put(&text, "\"time\":\"%s.%6Z\",\"t\":%t,\"event\":\"", date, wall.tv_nsec / 1000, now);
    *text.at = 0;
}

static char *begin_record(void) {
    if (journal.at - journal.start > textSize / 2) write_out(&journal);
    if (report.at - report.start > textSize / 2) write_out(&report);
    char *const start = journal.at;
    put(&journal, "{\"v\":1,\"seq\":%d,%s", sequence++, stamp);
    return start;
}

static void end_record(const char *start) { put(&journal, ",\"crc\":\"%x\"}\n", checksum(start, journal.at)); }

// Prepares the words of a command, which are in all its records.
static void note_words(char **words) {
    struct text text = {-1, wordBytes, wordBytes}, sums = {-1, definition, definition};
    size_t size = 2;
    for (char **word = words; *word != NULL; word++) size += 6 * strlen(*word) + 3;
    if (size > sizeof wordBytes) {
        errno = E2BIG;
        give_up("keep the command");
    }
    for (char **word = words; *word != NULL; word++) {
        put(&text, word == words ? "[" : ",");
        put_quoted(&text, *word, strlen(*word));
    }
    put(&text, "]");
    for (int at = 0; at < 4; at++) put(&sums, "%x", checksum(wordBytes + at, text.at));
}

// The header is there twice: without it nothing else about the run would be known.
static void note_run(const char *run, uint64_t name, long total, long jobs) {
    for (int copy = 0; copy < 2; copy++) {
        const char *const start = journal.at;
        put(&journal, "{\"v\":1,%sjournal\",\"run\":\"%s\",\"number\":1,\"origin\":\"%s\",\"mark\":%d,\"folder\":\""
            ".guarded/runs/%s\"", stamp, run, run, (long)name, run);
        end_record(start);
    }
    const char *const start = begin_record();
    put(&journal, "run.started\",\"run\":\"%s\",\"steps\":%d,\"jobs\":%d", run, total, jobs);
    end_record(start);
    put(&report, "guarded_floor: %d steps, up to %d at once\n", total, jobs);
}

static void note_start(const char *name, pid_t pid) {
    const char *const start = begin_record();
    put(&journal, "step.started\",\"step\":\"%s\",\"attempt\":1,\"pid\":%d,\"argv\":%s,\"line\":1", name, (long)pid,
        wordBytes);
    end_record(start);
}

static void note_output(const char *name, const char *bytes, size_t count) {
    const char *const start = begin_record();
    put(&journal, "step.output\",\"step\":\"%s\",\"attempt\":1,\"stream\":\"output\",\"text\":", name);
    put_quoted(&journal, bytes, count);
    end_record(start);
    report.at = mempcpy(report.at, bytes, count);
}

// Notes an end; `error` is the one that kept the child from its program, or 0. Returns 1 for a success.
static int note_end(const char *name, const siginfo_t *ending, const struct rusage *usage, int error, long time,
                    const char *containment) {
    const int hasExited = ending->si_code == CLD_EXITED, isSuccess = hasExited && ending->si_status == 0;
    const char *const outcome = isSuccess ? "success" : "failure";
    const char *const kind = error != 0 ? "errno" : hasExited ? "exit_code" : "signal";
    const long status = error != 0 ? error : ending->si_status;
    const long user = usage->ru_utime.tv_sec * 1000000 + usage->ru_utime.tv_usec;
    const long system = usage->ru_stime.tv_sec * 1000000 + usage->ru_stime.tv_usec;
    const char *start = begin_record();
    put(&journal, "step.attempt\",\"step\":\"%s\",\"attempt\":1,\"%s\":%d", name, kind, status);
    end_record(start);
    start = begin_record();
    put(&journal, "step.finished\",\"step\":\"%s\",\"attempt\":1,\"outcome\":\"%s\",\"%s\":%d,\"duration\":%t,"
        "\"attempt_duration\":%t,\"max_rss\":%d,\"user\":%t,\"sys\":%t,\"containment\":\"%s\",\"definition\":\"%s\"",
        name, outcome, kind, status, time, time, usage->ru_maxrss * 1024, user, system, containment, definition);
    end_record(start);
    put(&report, "%m  %s  %ms  %s\n", now, outcome, time, name);
    return isSuccess;
}

static void note_run_end(long successes, long failures) {
    const char *const start = begin_record(), *const outcome = failures > 0 ? "failure" : "success";
    put(&journal, "run.finished\",\"outcome\":\"%s\",\"duration\":%t,\"counts\":{\"success\":%d,\"failure\":%d}",
        outcome, now, successes, failures);
    end_record(start);
    put(&report, failures > 0 ? "%s in %ms: %d success, %d failure\n" : "%s in %ms: %d success\n", outcome, now,
        successes, failures);
}

#endif
