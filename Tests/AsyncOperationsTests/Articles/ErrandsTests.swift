import Testing

@Suite(.timeLimit(.minutes(5))) struct ErrandsTests {
    /// `Errands.swift` is a link to the source of the example, which is compiled here as it is there.
    @Test func `the example does what it says`() async throws {
        let said = Record<String>()
        try await runErrands { said.add($0) }
        #expect(
            said.entries.sorted() == [
                "dough: 800 g", "failed: bank, price", "gave up after 0.01 seconds", "kitchen tidied",
                "letters posted", "price: 9.00",
            ])
    }
}
