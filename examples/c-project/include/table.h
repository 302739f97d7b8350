#ifndef TABLE_H
#define TABLE_H

#include <stddef.h>

/* Counts strings. */
struct table;

struct entry {
    char *word;
    size_t count;
};

/* NULL when there is no memory. */
struct table *table_create(void);
void table_destroy(struct table *table);

/* Counts `word` once more and returns its count; 0 when there is no memory. */
size_t table_add(struct table *table, const char *word);

/* How many different words there are. */
size_t table_size(const struct table *table);

/* Sorts by falling count, then by word, and returns the entries; the table takes no more words afterwards. */
const struct entry *table_sorted(struct table *table);

#endif
