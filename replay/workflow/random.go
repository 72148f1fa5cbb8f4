package workflow

import (
	"math/rand/v2"

	"github.com/google/uuid"
)

// Random returns the run's random numbers. Each run and generation has its own, and a replay draws
// the same ones. A retry, a reset or a fork draws the same ones for the events that it keeps, and
// others behind them. They are not secret: they can be computed from the run's id.
func Random(ctx Context) *rand.Rand { return ctx.env().Random() }

// UUID returns a new id, a UUID of version 4, the same one on every replay. It is not secret
// either.
func UUID(ctx Context) uuid.UUID { return ctx.env().UUID() }
