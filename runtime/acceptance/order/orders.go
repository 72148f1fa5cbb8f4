package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"time"
)

// Order is what a customer sends: the input of the Checkout workflow.
type Order struct {
	ID       string `json:"id"`
	Customer string `json:"customer"`
	Email    string `json:"email"`
	Card     string `json:"card"`
	Address  string `json:"address"`
	Lines    []Line `json:"lines"`
	ReplyMS  int64  `json:"replyMs"` // how long the customer waits for the approval of a big order
}

// Line is one line of an order.
type Line struct {
	SKU      string `json:"sku"`
	Quantity int64  `json:"quantity"`
}

// reply is how long a big order waits for its approval.
func (o *Order) reply() time.Duration { return time.Duration(o.ReplyMS) * time.Millisecond }

// key is the run's key: starting an order again leads to the run that has it already.
func (o *Order) key() string { return keyPrefix + o.ID }

const keyPrefix = "order:"

// What the people around an order do.
const (
	deskApproves = "approve" // somebody approves the big order, and the message arrives twice
	deskRefuses  = "refuse"
	deskSilent   = "silent"        // nobody ever answers
	deskCancels  = "cancel"        // the customer cancels while the order waits for approval
	deskRegrets  = "cancel-anyhow" // the customer cancels at any time, perhaps too late
)

// How an order ends. All but shipped leave nothing behind.
const (
	outcomeShipped    = "shipped"
	outcomeUnknown    = "unknown item"
	outcomeSoldOut    = "sold out"
	outcomeDeclined   = "card declined"
	outcomeStolen     = "card stolen"
	outcomeRefused    = "not approved"
	outcomeUnanswered = "no answer in time"
	outcomeAddress    = "bad address"
	outcomeBounced    = "receipt bounced"
	outcomeCancelled  = "cancelled"
)

// ticket is one line of orders.jsonl: an order, what people do with it, and the outcomes that are
// right.
type ticket struct {
	Order
	Desk string   `json:"desk,omitempty"`
	Want []string `json:"want"`
}

//go:embed orders.jsonl
var ordersFile []byte

// readTickets returns the first max tickets of the file, or all for 0.
func readTickets(max int) ([]ticket, error) {
	var tickets []ticket
	lines := bufio.NewScanner(bytes.NewReader(ordersFile))
	for lines.Scan() && (max == 0 || len(tickets) < max) {
		var t ticket
		if err := json.Unmarshal(lines.Bytes(), &t); err != nil {
			return nil, fmt.Errorf("orders.jsonl line %d: %w", len(tickets)+1, err)
		}
		tickets = append(tickets, t)
	}
	return tickets, lines.Err()
}
