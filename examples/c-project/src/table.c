#include "table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Open addressing with linear probing; never more than half full. */
struct table {
    struct entry *slots;
    size_t capacity;
    size_t size;
};

static uint64_t hash(const char *word) {
    uint64_t value = 14695981039346656037u;
    for (; *word; word++) value = (value ^ (unsigned char)*word) * 1099511628211u;
    return value;
}

static struct entry *find(struct entry *slots, size_t capacity, const char *word) {
    size_t index = hash(word) % capacity;
    while (slots[index].word && strcmp(slots[index].word, word) != 0) index = (index + 1) % capacity;
    return &slots[index];
}

static int grow(struct table *table) {
    size_t capacity = table->capacity * 2;
    struct entry *slots = calloc(capacity, sizeof *slots);
    if (!slots) return 0;
    for (size_t i = 0; i < table->capacity; i++) {
        if (table->slots[i].word) *find(slots, capacity, table->slots[i].word) = table->slots[i];
    }
    free(table->slots);
    table->slots = slots;
    table->capacity = capacity;
    return 1;
}

struct table *table_create(void) {
    struct table *table = calloc(1, sizeof *table);
    if (!table) return NULL;
    table->capacity = 16;
    table->slots = calloc(table->capacity, sizeof *table->slots);
    if (!table->slots) {
        free(table);
        return NULL;
    }
    return table;
}

void table_destroy(struct table *table) {
    if (!table) return;
    for (size_t i = 0; i < table->capacity; i++) free(table->slots[i].word);
    free(table->slots);
    free(table);
}

size_t table_add(struct table *table, const char *word) {
    if (2 * (table->size + 1) > table->capacity && !grow(table)) return 0;
    struct entry *entry = find(table->slots, table->capacity, word);
    if (!entry->word) {
        size_t bytes = strlen(word) + 1;
        entry->word = malloc(bytes);
        if (!entry->word) return 0;
        memcpy(entry->word, word, bytes);
        table->size++;
    }
    return ++entry->count;
}

size_t table_size(const struct table *table) { return table->size; }

static int compare(const void *left, const void *right) {
    const struct entry *a = left, *b = right;
    if (a->count != b->count) return a->count < b->count ? 1 : -1;
    if (!a->word || !b->word) return (a->word == NULL) - (b->word == NULL);
    return strcmp(a->word, b->word);
}

const struct entry *table_sorted(struct table *table) {
    qsort(table->slots, table->capacity, sizeof *table->slots, compare);
    return table->slots;
}
