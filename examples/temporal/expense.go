package temporal

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
)

// An Expense waits for a decision, for a limited time, and is paid if the answer is yes.
const (
	Expenses        workflow.Name[Expense, string] = "expense"
	ExpenseDecision workflow.Signal[bool]          = "expense.decision"
)

// Expense is what somebody wants to have paid.
type Expense struct {
	ID       string
	Cents    int
	Patience time.Duration
}

// office keeps the books. Calls with the same key are one call.
type office struct {
	open func(ctx context.Context, e Expense) error
	pay  func(ctx context.Context, key string, e Expense) error
}

func (f *office) expense(ctx workflow.Context, e Expense) (string, error) {
	if err := workflow.Do(ctx, "open", func(ctx context.Context) error { return f.open(ctx, e) }, nil); err != nil {
		return "", err
	}
	yes, inTime, err := ExpenseDecision.ReceiveTimeout(ctx, e.Patience)
	switch {
	case err != nil:
		return "", err
	case !inTime:
		return "expired", nil
	case !yes:
		return "rejected", nil
	}
	return "paid", workflow.Do(ctx, "pay", func(ctx context.Context) error { return f.pay(ctx, workflow.IdempotencyKey(ctx), e) }, nil)
}
