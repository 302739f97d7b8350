internal import FlowrunCommands

Flowrun.main(CommandWords.all)
