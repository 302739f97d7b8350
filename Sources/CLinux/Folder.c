#define _GNU_SOURCE
#include "Folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct removal {
    int root;
    long number; // for names of folders that move up; counts on
    int error;
};

// The number of bytes that are read of a folder at a time.
enum { buffer_size = 4096 };

static void note(struct removal *removal) {
    if (removal->error == 0) removal->error = -errno;
}

// Opens a folder and gives its owner all rights in it.
static int open_folder(int parent, const char *name) {
    const int flags = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int folder = openat(parent, name, O_RDONLY | flags);
    if (folder >= 0) {
        fchmod(folder, 0700);
        return folder;
    }
    if (errno != EACCES) return -1;
    // An unreadable folder can still be named by a descriptor, which cannot have become a link when its rights are
    // changed.
    int place = openat(parent, name, O_PATH | flags);
    if (place < 0) return -1;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", place);
    if (chmod(path, 0700) == 0) folder = openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int error = errno;
    close(place);
    errno = error;
    return folder;
}

// Moves a folder directly below the root, so that no path gets long and no recursion deep.
static int move_up(struct removal *removal, int folder, const char *name) {
    // A move changes the folder's own entry for its parent, which takes the right to write in the folder.
    int moved = open_folder(folder, name);
    if (moved >= 0) close(moved);
    for (;;) {
        char new_name[32];
        snprintf(new_name, sizeof new_name, ".removed-%ld", ++removal->number);
        if (renameat(folder, name, removal->root, new_name) == 0) return 1;
        if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR) return 0;
    }
}

// Removes the files in a folder and moves its folders up. Returns the number of entries that have gone from it.
static long empty(struct removal *removal, int folder);

// Removes a folder directly below the root.
static int remove_folder(struct removal *removal, const char *name) {
    if (unlinkat(removal->root, name, AT_REMOVEDIR) == 0) return 1;
    int folder = open_folder(removal->root, name);
    if (folder < 0) {
        note(removal);
        return 0;
    }
    // Removing entries may hide later ones until the folder is read again.
    long gone;
    do {
        lseek(folder, 0, SEEK_SET);
        gone = empty(removal, folder);
    } while (gone > 0 && unlinkat(removal->root, name, AT_REMOVEDIR) != 0);
    close(folder);
    if (gone > 0 || unlinkat(removal->root, name, AT_REMOVEDIR) == 0) return 1;
    note(removal);
    return 0;
}

static int remove_entry(struct removal *removal, int folder, const char *name) {
    if (unlinkat(folder, name, 0) == 0) return 1;
    if (errno != EISDIR && errno != EPERM) {
        note(removal);
        return 0;
    }
    if (folder == removal->root) return remove_folder(removal, name);
    if (unlinkat(folder, name, AT_REMOVEDIR) == 0 || move_up(removal, folder, name)) return 1;
    note(removal);
    return 0;
}

static long empty(struct removal *removal, int folder) {
    char text[buffer_size] __attribute__((aligned(8)));
    long gone = 0;
    for (ssize_t count; (count = getdents64(folder, text, sizeof text)) > 0;) {
        for (ssize_t at = 0; at < count;) {
            struct dirent64 *entry = (struct dirent64 *)(text + at);
            at += entry->d_reclen;
            if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
            gone += remove_entry(removal, folder, entry->d_name);
        }
    }
    return gone;
}

static int remove_all(const char *path, int folder) {
    struct removal removal = {.root = folder};
    while (empty(&removal, folder) > 0) lseek(folder, 0, SEEK_SET);
    close(folder);
    if (rmdir(path) == 0) return 0;
    note(&removal);
    return removal.error;
}

int clinux_remove_folder(const char *path) {
    int folder = open_folder(AT_FDCWD, path);
    return folder >= 0 ? remove_all(path, folder) : -errno;
}

int clinux_remove_own_folder(const char *path) {
    struct stat status;
    if (lstat(path, &status) != 0) return -errno;
    if (!S_ISDIR(status.st_mode)) return -ENOTDIR;
    if (status.st_uid != geteuid()) return -EPERM;
    int folder = open_folder(AT_FDCWD, path);
    if (folder < 0) return -errno;
    struct stat opened;
    if (fstat(folder, &opened) == 0 && opened.st_dev == status.st_dev && opened.st_ino == status.st_ino)
        return remove_all(path, folder);
    close(folder);
    return -EPERM;
}
