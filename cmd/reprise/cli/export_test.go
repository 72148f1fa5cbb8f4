package cli

// RegisterDemo has the code of the demonstration, for a program that embeds the command.
var RegisterDemo = registerDemo

// RecordsOf says what a verb prints with -o json.
const RecordsOf = recordsKey
