package temporal

import (
	"context"

	"github.com/reprise-run/reprise/replay/workflow"
)

// A Pipeline has two stages that work at the same time and are connected by channels. The first
// error ends both.
const Pipeline workflow.Name[[]string, []string] = "pipeline"

// stage is what is done to each item.
type stage func(ctx context.Context, item string) (string, error)

// plant has the two stages.
type plant struct{ fetch, pack stage }

func (p *plant) pipeline(ctx workflow.Context, items []string) (packed []string, err error) {
	g, _ := workflow.NewGroup(ctx)
	fetched := workflow.NewChannel[string](2, "fetched")
	g.Go(func(ctx workflow.Context) error {
		defer fetched.Close()
		for _, item := range items {
			v, err := p.fetch.step(ctx, "fetch", item)
			if err == nil {
				err = fetched.Send(ctx, v)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	g.Go(func(ctx workflow.Context) error {
		for {
			item, ok, err := fetched.Receive(ctx)
			if err != nil || !ok {
				return err
			}
			if item, err = p.pack.step(ctx, "pack", item); err != nil {
				return err
			}
			packed = append(packed, item)
		}
	})
	err = g.Wait()
	return packed, err
}

func (s stage) step(ctx workflow.Context, name, item string) (string, error) {
	return workflow.Step(ctx, name, func(ctx context.Context) (string, error) { return s(ctx, item) }, nil)
}
