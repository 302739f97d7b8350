extension OperationGraph {
    /// Rows that join a group while its graph runs: the instances of a fan-out, or work that came later.
    ///
    /// Built like a graph, without an outermost group: rows outside any `beginGroup` become direct members of the group
    /// that is expanded. The rows are appended behind all others, so their ids are known beforehand.
    package struct Expansion: Sendable {
        var table: RowTable

        /// `firstRow` is the number of rows that there are by then: those of the graph and of all earlier expansions,
        /// dropped ones included.
        package init(firstRow: Int) { table = RowTable(firstRow: firstRow) }

        /// The ids of the rows so far.
        package var rows: Range<Int> { table.firstRow..<table.end }

        /// Adds an operation to the group that is open.
        @discardableResult
        package mutating func addOperation(_ options: Options = Options()) -> OperationID {
            table.append(options)
        }

        /// Opens a group, as in `OperationGraph.beginGroup`.
        @discardableResult
        package mutating func beginGroup(
            _ options: Options = Options(), limit: ConcurrencyLimit = .unlimited, failFast: FailFast? = nil,
            isExpandable: Bool = false, concludes: Bool = false, isOpen: Bool = false
        ) -> OperationID {
            table.begin(
                options, limit: limit, failFast: failFast, isExpandable: isExpandable, concludes: concludes,
                isOpen: isOpen)
        }

        /// Opens a hook of the open group, as in `OperationGraph.beginHook`. There has to be an open group.
        @discardableResult
        package mutating func beginHook(_ kind: Hook) -> OperationID {
            table.beginHook(kind)
        }

        /// Closes the group or hook that is open.
        package mutating func endGroup() {
            precondition(table.openCount > 0, "endGroup without beginGroup")
            table.endGroup()
        }

        /// Lets `dependent`, which is one of the new rows, start only after `prerequisite`, any row at all, has ended
        /// in the way that `kind` asks for.
        package mutating func addDependency(
            of dependent: OperationID, on prerequisite: OperationID, _ kind: EdgeKind = .ok
        ) {
            precondition(dependent.row >= table.firstRow, "\(dependent) is not one of the new rows")
            table.edges.append(RowTable.Edge(dependent: dependent, prerequisite: prerequisite, kind: kind))
        }
    }
}

extension OperationGraph {
    /// Appends the rows of an expansion as members of a group. O(rows and edges of the expansion).
    mutating func append(_ table: RowTable, to group: OperationID) {
        self.table.append(table, to: group)
    }

    /// Counts members that stay when the group is tried again.
    mutating func addMembers(_ count: Int, toGroup index: Int) {
        table.groups[index].members += count
    }
}
