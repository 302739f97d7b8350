#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

// Blocks of up to 256 bytes, for a program that is linked with --wrap=malloc and the others below; without those
// options nothing here is called. Of the forty allocations for each step of a file that is checked nearly all are as
// small, most of them libyaml's. The C library takes 130 instructions for each with its end, this 30.
//
// A block has no header: its size is that of its unit. Each thread has lists of its own of what it has freed, so there
// is no lock on the way; what another thread has allocated may be freed here. Memory is never given back. Larger
// blocks, and all once the addresses are used up or refused (ulimit -v), are the C library's.

enum { GRAIN = 16, CLASSES = 16, UNIT = 1024, PIECE = 64 << 10 };
#define ARENA ((size_t)1 << 30)

// The C library's own, where the program is linked with those options.
extern void *__real_malloc(size_t size) __attribute__((weak));
extern void *__real_calloc(size_t count, size_t size) __attribute__((weak));
extern void *__real_realloc(void *block, size_t size) __attribute__((weak));
extern void __real_free(void *block) __attribute__((weak));
extern int __real_posix_memalign(void **block, size_t alignment, size_t size) __attribute__((weak));
extern size_t __real_malloc_usable_size(void *block) __attribute__((weak));

struct block {
    struct block *next;
};

// Blocks by class: of GRAIN bytes, of twice as many, and so on.
static __thread struct {
    struct block *freed[CLASSES];
    // The rest of a unit whose blocks are handed out one after another.
    char *next[CLASSES];
    char *end[CLASSES];
} cache;

// An address that no block has, nor one behind it.
#define NOWHERE (-ARENA)

static struct {
    pthread_mutex_t lock;
    // NOWHERE until the first block. Addresses without memory, which is added in growing pieces.
    uintptr_t start;
    size_t used;
    size_t available;
    bool is_refused;
} arena = {.lock = PTHREAD_MUTEX_INITIALIZER, .start = NOWHERE};

// By unit.
static uint8_t classes[ARENA / UNIT];

static bool grow(size_t wanted) {
    if (arena.is_refused || wanted > ARENA) return false;
    if (arena.start == NOWHERE) {
        void *start = mmap(NULL, ARENA, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        arena.is_refused = start == MAP_FAILED;
        if (arena.is_refused) return false;
        __atomic_store_n(&arena.start, (uintptr_t)start, __ATOMIC_RELAXED);
    }
    // A quarter more, in whole pieces, since mprotect takes the start of a page.
    size_t more = (arena.available / 4 / PIECE + 1) * PIECE;
    if (more > ARENA - arena.available) more = ARENA - arena.available;
    arena.is_refused = mprotect((void *)(arena.start + arena.available), more, PROT_READ | PROT_WRITE) != 0;
    if (!arena.is_refused) arena.available += more;
    return !arena.is_refused;
}

// Returns a block of a fresh unit.
static void *refill(int class) {
    pthread_mutex_lock(&arena.lock);
    char *unit = NULL;
    if (arena.used + UNIT <= arena.available || grow(arena.used + UNIT)) {
        unit = (char *)(arena.start + arena.used);
        classes[arena.used / UNIT] = (uint8_t)class;
        arena.used += UNIT;
    }
    pthread_mutex_unlock(&arena.lock);
    size_t size = (size_t)(class + 1) * GRAIN;
    if (unit == NULL) return __real_malloc(size);
    cache.next[class] = unit + size;
    cache.end[class] = unit + UNIT / size * size;
    return unit;
}

static inline bool is_small(size_t size) { return size - 1 < (size_t)CLASSES * GRAIN; }

// Read without the lock: a thread that does not see yet where the arena is has none of its blocks.
static inline size_t place_of(const void *block) {
    return (uintptr_t)block - __atomic_load_n(&arena.start, __ATOMIC_RELAXED);
}

static inline bool is_ours(const void *block) { return place_of(block) < ARENA; }

static inline int class_of(const void *block) { return classes[place_of(block) / UNIT]; }

static inline size_t size_of(const void *block) { return (size_t)(class_of(block) + 1) * GRAIN; }

void *__wrap_malloc(size_t size) {
    if (!is_small(size)) return __real_malloc(size);
    int class = (int)((size - 1) / GRAIN);
    struct block *freed = cache.freed[class];
    if (freed != NULL) {
        cache.freed[class] = freed->next;
        return freed;
    }
    char *next = cache.next[class];
    if (next == cache.end[class]) return refill(class);
    cache.next[class] = next + (size_t)(class + 1) * GRAIN;
    return next;
}

void __wrap_free(void *block) {
    if (!is_ours(block)) return __real_free(block);
    int class = class_of(block);
    struct block *freed = block;
    freed->next = cache.freed[class];
    cache.freed[class] = freed;
}

void *__wrap_calloc(size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || !is_small(bytes)) return __real_calloc(count, size);
    void *block = __wrap_malloc(bytes);
    return block == NULL ? NULL : memset(block, 0, bytes);
}

void *__wrap_realloc(void *block, size_t size) {
    if (block == NULL) return __wrap_malloc(size);
    if (!is_ours(block)) return __real_realloc(block, size);
    size_t before = size_of(block);
    if (size > 0 && size <= before) return block;
    void *other = NULL;
    if (size > 0) {
        other = __wrap_malloc(size);
        if (other == NULL) return NULL;
        memcpy(other, block, before);
    }
    __wrap_free(block);
    return other;
}

int __wrap_posix_memalign(void **block, size_t alignment, size_t size) {
    if (alignment > GRAIN || !is_small(size)) return __real_posix_memalign(block, alignment, size);
    // ENOMEM, as of posix_memalign(3), is left to the C library's own.
    *block = __wrap_malloc(size);
    return *block == NULL ? __real_posix_memalign(block, alignment, size) : 0;
}

size_t __wrap_malloc_usable_size(void *block) {
    return is_ours(block) ? size_of(block) : __real_malloc_usable_size(block);
}
