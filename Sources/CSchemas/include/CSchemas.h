// The JSON schemas of `schema/`, as the program prints them.

#pragma once

#include <stddef.h>

typedef struct {
    const char *_Nonnull bytes;
    size_t size;
} CSchema;

/// Of workflow files.
extern const CSchema cschemas_workflow;
/// Of the lines of the log.
extern const CSchema cschemas_event;
