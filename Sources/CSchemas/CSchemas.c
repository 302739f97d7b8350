#include "CSchemas.h"

// The compiler takes the files as they are; as arrays of a Swift source they would take it minutes.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const char workflow[] = {
#embed "../../schema/flowrun.schema.json"
};

static const char event[] = {
#embed "../../schema/flowrun-event.schema.json"
};

const CSchema cschemas_workflow = {workflow, sizeof workflow};
const CSchema cschemas_event = {event, sizeof event};
