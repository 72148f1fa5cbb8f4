package runtime

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

// HandleOptions of a registration. The zero value means the defaults.
type HandleOptions struct {
	// Version of the function, at least 1; default 1. Runs keep the version they were started with.
	Version int32
	// Queue whose runs the node executes with it; default journal.DefaultQueue.
	Queue string
	// Timeout is how long a run may take whose start gives it no time: see StartOptions.Timeout.
	// Default as long as it takes. A change holds for runs that are open, too, but one that is
	// parked knows of it only when a node goes on with it: when what it waits for comes, or when
	// its time would have been up before the change. Client.Resume has a node do it now.
	Timeout time.Duration
	// Limits are what each run of the workflow holds from its first turn until it closes, beside
	// StartOptions.Limits, which has more about them, and LimitsFrom those that depend on what the
	// run was started with. They are found out where the run is started, if the workflow is
	// registered there for the run's queue, else by the node that is about to make the first turn,
	// and stored with the run then: so they hold for each start, also of the command and of
	// programs without the code, and stay as they are, whatever is registered later. Of several
	// that name one limit that of the start holds, then that of LimitsFrom. Default none.
	Limits     []journal.LimitNeed
	LimitsFrom LimitsFunc
	// OnFailure is workflow code that is called when a run is about to fail with err, in a Context
	// that is not cancelled: for a last notice, or a row in a table of dead letters. Default none.
	// See workflow.OnFailure, and StartOptions.OnFailure for a workflow of its own.
	OnFailure func(ctx workflow.Context, err error) error
	// Signals lists the names of all signals that the workflow receives. Clients warn of a signal
	// of another name, which they send all the same: the node's own at once, one elsewhere if all
	// live nodes that serve the workflow list other names. Empty: nobody is warned. A signal that
	// nobody receives is shown by [Client.Describe] in any case.
	Signals []string
	// Messages are signals, updates and queries of the workflow whose types tools should know, so
	// that they make forms for them: SignalType(Paid), UpdateType(Move). With those of the input
	// and the output they are stored with the node while it lives, as JSON Schema, in the clear:
	// names of fields, and no values.
	Messages []MessageType
	// BlockOnBadSignal blocks a run that is about to receive a signal whose payload does not
	// decode, until code or a codec that decodes it is deployed. By default such a signal is set
	// aside, with a warning, and the run goes on: see workflow.Signal. Set it if a signal must not
	// be lost and your own programs alone send some, or if a node may lack a key of its codec. A
	// cancel request does not wait behind the signal, if no more than a few hundred messages are
	// between the two: the signal is set aside then.
	BlockOnBadSignal bool
}

// Handle registers a workflow function under its durable name. The name stands in every stored run,
// so it outlives the function's name in Go.
//
// Handle must be called before [Node.Run]. A nil function, a name that is invalid, a version below
// 1, a timeout that no start may have, a registration that is there already and one that comes
// while the node runs are programming errors and panic, as http.Handle does. o may be nil.
//
// To serve a version in several queues, register it once for each. A version is one function
// nevertheless: the first registration's is used for all queues.
func Handle[In, Out any](
	n *Node, name workflow.Name[In, Out], fn func(workflow.Context, In) (Out, error), o *HandleOptions,
) {
	if o == nil {
		o = &HandleOptions{}
	}
	route := routeOf(string(name), o.Version, o.Queue)
	if fn == nil {
		panic(fmt.Sprintf("runtime: the function of workflow %q is nil", string(name)))
	}
	def := workflow.Define(name, route.Version, fn)
	def.BlockOnBadSignal, def.Timeout = o.BlockOnBadSignal, o.Timeout
	workflow.OnFailure(def, o.OnFailure)
	def = workflow.Intercept(def, workflowsOf(n.o.Interceptors)...)
	if err := n.registry.setLimits(route, reflect.TypeFor[In](), o.Limits, o.LimitsFrom); err != nil {
		panic("runtime: " + err.Error())
	}
	if err := n.registry.add(def, route, o.Signals, typesOf(string(name), reflect.TypeFor[In](), reflect.TypeFor[Out](), o.Messages)); err != nil {
		panic("runtime: " + err.Error())
	}
}

// routeOf is where runs of a workflow go, with the defaults of version and queue.
func routeOf(workflow string, version int32, queue string) journal.Route {
	if version == 0 {
		version = 1
	}
	if queue == "" {
		queue = journal.DefaultQueue
	}
	return journal.Route{Queue: queue, Workflow: workflow, Version: version}
}

// registry holds what a node executes. While it is frozen, because the node runs, nothing changes:
// the node's workers read definitions and routes without the mutex then.
type registry struct {
	mu          sync.Mutex
	frozen      bool
	definitions map[definitionKey]*replay.Definition
	routes      []journal.Route
	signals     map[journal.Route][]string // that a workflow receives, if its registration says so
	types       map[journal.Route][]journal.Type
	limits      map[journal.Route]runNeeds
	queueLimits map[string][]journal.LimitNeed // NodeOptions.QueueLimits
}

type definitionKey struct {
	workflow string
	version  int32
}

// empty tells whether nothing is registered.
func (r *registry) empty() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.routes) == 0
}

func (r *registry) add(def *replay.Definition, route journal.Route, signals []string, types []journal.Type) error {
	for _, name := range signals {
		if err := journal.CheckName("signal", name); err != nil {
			return fmt.Errorf("workflow %q: %w", def.Name, err)
		}
	}
	if err := journal.CheckName("workflow", def.Name); err != nil {
		return err
	}
	if err := journal.CheckName("queue", route.Queue); err != nil {
		return err
	}
	if def.Version < 1 {
		return fmt.Errorf("workflow %q: version %d: versions start at 1", def.Name, def.Version)
	}
	if def.Timeout < 0 || def.Timeout > journal.DelayMax {
		return fmt.Errorf("workflow %q: timeout %s: it must be between 0 and %s", def.Name, def.Timeout, journal.DelayMax)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.frozen {
		return fmt.Errorf("workflow %q is registered after the node began to run", def.Name)
	}
	if slices.Contains(r.routes, route) {
		return fmt.Errorf("workflow %q version %d is registered twice for queue %q", def.Name, def.Version, route.Queue)
	}
	key := definitionKey{def.Name, def.Version}
	if r.definitions[key] == nil {
		r.definitions[key] = def
	}
	r.routes = append(r.routes, route)
	if r.types == nil {
		r.types = map[journal.Route][]journal.Type{}
	}
	r.types[route] = types
	if len(signals) > 0 {
		if r.signals == nil {
			r.signals = map[journal.Route][]string{}
		}
		r.signals[route] = slices.Clone(signals)
	}
	return nil
}

// freeze allows or forbids registrations, and tells whether that changed anything.
func (r *registry) freeze(frozen bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	changed := r.frozen != frozen
	r.frozen = frozen
	return changed
}

// lookup returns the code of a version, nil if it is not registered. The registry must be frozen.
func (r *registry) lookup(workflow string, version int32) *replay.Definition {
	return r.definitions[definitionKey{workflow, version}]
}

// find is lookup for a registry that may change. Its error is ErrNotRegistered.
func (r *registry) find(workflow string, version int32) (*replay.Definition, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	def := r.lookup(workflow, version)
	if def == nil {
		return nil, fmt.Errorf("workflow %q version %d: %w", workflow, version, ErrNotRegistered)
	}
	return def, nil
}

// serves tells whether the route is registered.
func (r *registry) serves(route journal.Route) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Contains(r.routes, route)
}

// receives tells whether a signal of that name may be received by a workflow. It is known only if
// the workflow's registration says so.
func (r *registry) receives(route journal.Route, signal string) (receives, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	listed, known := r.signals[route]
	return slices.Contains(listed, signal), known
}
