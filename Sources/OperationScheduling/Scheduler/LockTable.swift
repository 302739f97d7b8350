internal import HeapModule

/// Who waits for which locks, and what of each lock is free.
///
/// Rows that ask for the same things wait together, first come first served, and each such company stands in the queue
/// of one lock that it lacks. So a release costs O(log n) for each row it lets go on, however many wait.
struct LockTable: Sendable {
    /// A place in a queue; `index` is a row in a company, a company in the queue of a lock.
    private struct Ticket: Comparable, Sendable {
        let number: UInt32
        let index: UInt32

        static func < (left: Ticket, right: Ticket) -> Bool {
            (left.number, left.index) < (right.number, right.index)
        }
    }

    private struct Company: Sendable {
        let requests: [LockRequest]
        var rows = Heap<Ticket>()
        /// The lock in whose queue it stands.
        var place: Int?
    }

    private(set) var capacities: [Int]
    private(set) var free: [Int]
    private var queues: [Heap<Ticket>]
    private var companies: [Company] = []
    private var companyOf: [OperationID: Int] = [:]
    private var companyWith: [[LockRequest]: Int] = [:]
    /// Of rows that wait or were just woken. They keep their place until they start or end.
    private var tickets: [OperationID: UInt32] = [:]
    private var nextTicket: UInt32 = 0

    init(capacities: [Int]) {
        self.capacities = capacities
        free = capacities
        queues = capacities.map { _ in Heap() }
    }

    /// Notes what a row will ask for. A lock that the graph did not have when it was built is a mutex.
    mutating func add(_ id: OperationID, _ requests: [LockRequest]) {
        for request in requests {
            while request.lock.index >= capacities.count {
                capacities.append(1)
                free.append(1)
                queues.append(Heap())
            }
            precondition(
                request.units <= capacities[request.lock.index],
                "\(id) asks for \(request.units) units of \(request.lock), which has \(capacities[request.lock.index])")
        }
        if let known = companyWith[requests] {
            companyOf[id] = known
        } else {
            companyWith[requests] = companies.count
            companyOf[id] = companies.count
            companies.append(Company(requests: requests))
        }
    }

    func requests(of id: OperationID) -> [LockRequest] {
        companyOf[id].map { companies[$0].requests } ?? []
    }

    /// A lock that lacks the units that the row asks for; nil where it can have everything now.
    func missing(for id: OperationID) -> LockID? {
        companyOf[id].flatMap { missing(for: companies[$0].requests) }
    }

    private func missing(for requests: [LockRequest]) -> LockID? {
        requests.first { free[$0.lock.index] < $0.units }?.lock
    }

    mutating func take(_ id: OperationID) {
        tickets[id] = nil
        for request in requests(of: id) { free[request.lock.index] -= request.units }
    }

    /// Does not wake anybody yet.
    mutating func release(_ id: OperationID) {
        for request in requests(of: id) { free[request.lock.index] += request.units }
    }

    /// Lets a row wait for a lock that it lacks, at its old place if it had one. Returns whether it had none.
    mutating func park(_ id: OperationID, for lock: LockID) -> Bool {
        guard let company = companyOf[id] else { return false }
        let isNew = tickets[id] == nil
        let number = tickets[id] ?? nextTicket
        if isNew {
            tickets[id] = number
            nextTicket += 1
        }
        companies[company].rows.insert(Ticket(number: number, index: id.value))
        let place = companies[company].place ?? lock.index
        companies[company].place = place
        if head(of: company)?.number == number {
            queues[place].insert(Ticket(number: number, index: UInt32(company)))
        }
        return isNew
    }

    /// A row that waited wants nothing any more.
    mutating func forget(_ id: OperationID) {
        if !tickets.isEmpty { tickets[id] = nil }
    }

    /// The rows that may go on now that a row has given back its locks, or did not take what it could have had. More
    /// than can have them may be woken; those who come too late wait again.
    mutating func wake(after id: OperationID) -> [OperationID] {
        guard !tickets.isEmpty else { return [] }
        var woken: [OperationID] = []
        for request in requests(of: id) { wake(request.lock.index, &woken) }
        return woken
    }

    private mutating func wake(_ lock: Int, _ woken: inout [OperationID]) {
        var room = free[lock]
        var passed: [Ticket] = []
        while room > 0, let ticket = queues[lock].popMin() {
            let company = Int(ticket.index)
            guard companies[company].place == lock else { continue }
            guard let head = head(of: company) else {
                companies[company].place = nil
                continue
            }
            guard head.number == ticket.number else {
                // Its first row has gone. A row before it has a ticket of its own.
                if head.number > ticket.number { queues[lock].insert(Ticket(number: head.number, index: ticket.index)) }
                continue
            }
            let requests = companies[company].requests
            let units = requests.first { $0.lock.index == lock }?.units ?? 0
            if let missing = missing(for: requests), missing.index != lock {
                companies[company].place = missing.index
                queues[missing.index].insert(ticket)
            } else if units > room {
                passed.append(ticket)
            } else {
                companies[company].rows.removeMin()
                woken.append(OperationID(Int(head.index)))
                room -= units
                if let next = self.head(of: company) {
                    queues[lock].insert(Ticket(number: next.number, index: ticket.index))
                } else {
                    companies[company].place = nil
                }
            }
        }
        for ticket in passed { queues[lock].insert(ticket) }
    }

    /// The first row of a company that still waits.
    private mutating func head(of company: Int) -> Ticket? {
        while let first = companies[company].rows.min {
            if tickets[OperationID(Int(first.index))] == first.number { return first }
            companies[company].rows.removeMin()
        }
        return nil
    }
}
