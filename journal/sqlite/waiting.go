package sqlite

import "strings"

// joinWaiting returns the lines as a row keeps them. Package postgres leaves the due time out of
// them, to save bytes of the row; here a row in a file of one process is not worth the trouble, so
// the two formats differ.
func joinWaiting(list []string) any { return nullText(strings.Join(list, "\n")) }

// splitWaiting reads what joinWaiting wrote.
func splitWaiting(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}
