// Outcomes, dependency kinds, retry policies: the types that the library shares with its scheduler. The target of the
// scheduler is not a product, so programs cannot name it, and wrapping its types would only duplicate them. The
// attribute is underscored, but it is the usual way to make one module of two targets, and has no other effect.
@_exported public import Scheduling
