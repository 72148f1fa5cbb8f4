package gather_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/gather"
)

// SendMails sends mails in one go.
const SendMails workflow.Name[[]string, int] = "send-mails"

// Mails go out three at a time, or a tenth of a second after the first one.
var Mails = gather.Batch("mails", SendMails, gather.Rules{Size: 3, Wait: 100 * time.Millisecond})

func ExampleBatch() {
	store := memory.New(nil)
	defer store.Close()
	node := runtime.NewNode(journal.New(store, nil), &runtime.NodeOptions{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	gather.Handle(node)
	runtime.Handle(node, SendMails, func(_ workflow.Context, mails []string) (int, error) { return len(mails), nil }, nil)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- node.Run(ctx) }()

	for _, mail := range []string{"one", "two"} {
		if err := gather.Put(ctx, node.Client(), Mails, "eu", mail, nil); err != nil {
			fmt.Println(err)
		}
	}
	for _, mail := range []string{"three", "four"} {
		ticket, err := gather.Add(ctx, node.Client(), Mails, "eu", mail, nil)
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(ticket.Result(ctx))
	}
	stop()
	fmt.Println(<-ended)
	// Output:
	// 3 <nil>
	// 1 <nil>
	// <nil>
}
