// Allocates, resizes and frees blocks of all small sizes and some large ones on four threads, which also free what the
// others have allocated, and looks that no block is changed by another one. Linked with Sources/CLinux/SmallBlocks.c and
// the options under which that is used. Prints `ok`; exit 1 with a word about the first fault. With the argument `all`,
// every small block has to be one of theirs, however many there are.
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, PLACES = 3000, ROUNDS = 400000, LONGEST = 400 };

struct held {
    unsigned char *block;
    size_t size;
    unsigned char mark;
};

static struct held held[PLACES];
static pthread_mutex_t locks[PLACES];

static void fail(const char *fault) {
    fprintf(stderr, "%s\n", fault);
    exit(1);
}

static void check(const struct held *it) {
    for (size_t place = 0; place < it->size; place++)
        if (it->block[place] != it->mark) fail("a block was changed by another one");
}

static void fill(struct held *it, unsigned char mark) {
    if ((uintptr_t)it->block % 16 != 0) fail("a block is not aligned");
    if (malloc_usable_size(it->block) < it->size) fail("a block is too short");
    it->mark = mark;
    memset(it->block, mark, it->size);
}

static void change(struct held *it, unsigned random) {
    size_t size = 1 + random % LONGEST;
    unsigned char mark = (unsigned char)(random >> 16);
    if (it->block != NULL) check(it);
    if (it->block != NULL && random >> 24 & 1) {
        it->block = realloc(it->block, size);
        if (it->size > size) it->size = size;
        check(it);
    } else {
        free(it->block);
        switch (random >> 25 & 3) {
        case 0: it->block = malloc(size); break;
        case 1:
            it->block = calloc(size, 1);
            it->size = size;
            it->mark = 0;
            check(it);
            break;
        case 2:
            if (posix_memalign((void **)&it->block, 16 << (random >> 27 & 3), size) != 0) fail("no aligned block");
            break;
        default: it->block = NULL;
        }
    }
    it->size = it->block == NULL ? 0 : size;
    if (it->block != NULL) fill(it, mark);
}

static void *work(void *seed) {
    unsigned random = (unsigned)(uintptr_t)seed;
    for (int round = 0; round < ROUNDS; round++) {
        random = random * 1664525 + 1013904223;
        unsigned place = (random >> 8) % PLACES;
        random = random * 1664525 + 1013904223;
        pthread_mutex_lock(&locks[place]);
        change(&held[place], random);
        pthread_mutex_unlock(&locks[place]);
    }
    return NULL;
}

// The C library's blocks of this size have eight bytes more.
static void take_many(void) {
    enum { SIZE = 32, COUNT = 500000 };
    void *last = NULL;
    for (int count = 0; count < COUNT; count++) {
        void **block = malloc(SIZE);
        if (malloc_usable_size(block) != SIZE) fail("a small block is the C library's");
        *block = last;
        last = block;
    }
    while (last != NULL) {
        void *next = *(void **)last;
        free(last);
        last = next;
    }
}

int main(int count, char **words) {
    if (count > 1 && strcmp(words[1], "all") == 0) take_many();
    pthread_t threads[THREADS];
    for (int place = 0; place < PLACES; place++) pthread_mutex_init(&locks[place], NULL);
    for (uintptr_t thread = 0; thread < THREADS; thread++) pthread_create(&threads[thread], NULL, work, (void *)thread);
    for (int thread = 0; thread < THREADS; thread++) pthread_join(threads[thread], NULL);
    for (int place = 0; place < PLACES; place++) {
        if (held[place].block != NULL) check(&held[place]);
        free(held[place].block);
    }
    free(malloc(0));
    char *text = strdup("a text that the C library copies");
    if (strcmp(text, "a text that the C library copies") != 0) fail("a text is not what was copied");
    free(realloc(text, 100000));
    puts("ok");
    return 0;
}
