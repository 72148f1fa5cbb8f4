package temporal

import (
	"errors"

	"github.com/reprise-run/reprise/replay/workflow"
)

// An Account is a run that lives as long as its customer. Callers change its balance by updates and
// read it by a query. A validator refuses an impossible update before it is written to the history.
const (
	Account workflow.Name[Balance, Balance]    = "account"
	Deposit workflow.Update[int, int]          = "account.deposit"
	Debit   workflow.Update[int, int]          = "account.debit"
	Look    workflow.Query[struct{}, Balance]  = "account.balance"
	Close   workflow.Update[struct{}, Balance] = "account.close"
)

// Balance is all that the account keeps.
type Balance struct {
	Cents int
	Moves int
}

var (
	errAmount = errors.New("the amount must be positive")
	errFunds  = errors.New("insufficient funds")
)

func account(ctx workflow.Context, b Balance) (Balance, error) {
	closed := false
	move := func(sign int) func(workflow.Context, int) (int, error) {
		return func(_ workflow.Context, cents int) (int, error) {
			b.Cents, b.Moves = b.Cents+sign*cents, b.Moves+1
			return b.Cents, nil
		}
	}
	Look.Handle(ctx, func(struct{}) (Balance, error) { return b, nil })
	Deposit.Handle(ctx, move(+1), &workflow.UpdateOptions[int]{Validate: func(cents int) error {
		if cents <= 0 {
			return errAmount
		}
		return nil
	}})
	Debit.Handle(ctx, move(-1), &workflow.UpdateOptions[int]{Validate: func(cents int) error {
		switch {
		case cents <= 0:
			return errAmount
		case cents > b.Cents:
			return errFunds
		}
		return nil
	}})
	Close.Handle(ctx, func(workflow.Context, struct{}) (Balance, error) { closed = true; return b, nil }, nil)

	if err := workflow.Await(ctx, func() bool { return closed || ctx.ShouldContinue() }); err != nil {
		return b, err
	}
	if err := workflow.HandlersFinished(ctx); err != nil || closed {
		return b, err
	}
	return b, workflow.ContinueAsNew(ctx, Account, b, nil)
}
