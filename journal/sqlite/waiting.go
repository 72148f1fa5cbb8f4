package sqlite

import "strings"

func joinWaiting(list []string) any { return nullText(strings.Join(list, "\n")) }

func splitWaiting(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}
