package pages_test

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/sqlite"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// sealed encrypts payloads. The encoding of a payload names its key, so that keys can change: old
// ones stay in the map for as long as there are payloads that need them.
type sealed struct {
	journal.JSON
	newest string
	keys   map[string]cipher.AEAD
}

func newSealed(newest string, secrets map[string][]byte) (*sealed, error) {
	s := &sealed{newest: "aes:" + newest, keys: map[string]cipher.AEAD{}}
	for name, secret := range secrets {
		block, err := aes.NewCipher(secret) // 32 bytes
		if err != nil {
			return nil, fmt.Errorf("key %q: %w", name, err)
		}
		if s.keys["aes:"+name], err = cipher.NewGCMWithRandomNonce(block); err != nil {
			return nil, fmt.Errorf("key %q: %w", name, err)
		}
	}
	if s.keys[s.newest] == nil {
		return nil, fmt.Errorf("there is no key %q", newest)
	}
	return s, nil
}

func (s *sealed) Encode(v any) (journal.Payload, error) {
	p, err := s.JSON.Encode(v)
	if err != nil {
		return p, err
	}
	return journal.Payload{Encoding: s.newest, Data: s.keys[s.newest].Seal(nil, nil, p.Data, nil)}, nil
}

func (s *sealed) Decode(p journal.Payload, v any) error {
	if p.Encoding == journal.EncodingJSON { // from before
		return s.JSON.Decode(p, v)
	}
	key := s.keys[p.Encoding]
	if key == nil {
		return fmt.Errorf("there is no key for payloads of encoding %q", p.Encoding)
	}
	data, err := key.Open(nil, nil, p.Data, nil)
	if err != nil {
		return err
	}
	return s.JSON.Decode(journal.Payload{Data: data}, v)
}

const (
	vault workflow.Name[string, string] = "vault"
	open  workflow.Signal[string]       = "vault.open"
)

// newKey returns the bytes of a key.
func newKey() []byte {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return key
}

// openVault returns a node on a file that encrypts with the newest of these keys.
func openVault(t *testing.T, file, newest string, secrets map[string][]byte) (*runtime.Node, func()) {
	t.Helper()
	codec, err := newSealed(newest, secrets)
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(t.Context(), file, nil)
	if err != nil {
		t.Fatal(err)
	}
	quiet := slog.New(slog.DiscardHandler)
	node := runtime.NewNode(journal.New(store, &journal.Options{Codec: codec}), &runtime.NodeOptions{Logger: quiet})
	runtime.Handle(node, vault, func(ctx workflow.Context, in string) (string, error) {
		word := workflow.SideEffect(ctx, "word", func() string { return "hidden-side" })
		out, err := workflow.Step(ctx, "step", func(context.Context) (string, error) { return "hidden-step " + in, nil }, nil)
		if err != nil {
			return "", err
		}
		said, err := open.Receive(ctx)
		if err == nil && said == "hidden-refuse" {
			err = errors.New("shown-error")
		}
		return word + out + said, err
	}, nil)
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- node.Run(ctx) }()
	return node, func() {
		end()
		if err := <-done; err != nil {
			t.Error(err)
		}
		store.Close()
	}
}

// TestSealed: what security.md says is encrypted, and what it says is not. A run goes on when the
// key has changed.
func TestSealed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "vault.db")
	keys := map[string][]byte{"2026a": newKey(), "2026b": newKey()}
	node, end := openVault(t, file, "2026a", keys)
	options := &runtime.StartOptions{Key: "shown-key", Labels: map[string]string{"l": "shown-label"}}
	run, err := runtime.Start(t.Context(), node.Client(), vault, "hidden-in", options)
	if err != nil {
		t.Fatal(err)
	}
	refused, err := runtime.Start(t.Context(), node.Client(), vault, "hidden-in", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := runtime.Signal(t.Context(), node.Client(), refused.ID(), open, "hidden-refuse", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := refused.Result(t.Context()); err == nil || !strings.Contains(err.Error(), "shown-error") {
		t.Errorf("refused: %v", err)
	}
	end()

	node, end = openVault(t, file, "2026b", map[string][]byte{"2026b": keys["2026b"]}) // the old key is missing
	if err := runtime.Signal(t.Context(), node.Client(), run.ID(), open, "hidden-signal", nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for !strings.Contains(problem(ctx, t, node.Client(), run.ID()), "there is no key") {
	}
	end()

	node, end = openVault(t, file, "2026b", keys) // the next year
	if err := node.Client().Resume(t.Context(), run.ID()); err != nil {
		t.Fatal(err)
	}
	out, err := runtime.RunOf(node.Client(), vault, run.ID()).Result(t.Context())
	if want := "hidden-sidehidden-step hidden-inhidden-signal"; out != want || err != nil {
		t.Errorf("%q, %v", out, err)
	}
	end()

	data, err := os.ReadFile(file) // all of it: the log was written back when the store was closed
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(data, []byte("hidden-")) {
		t.Error("something is not encrypted")
	}
	for _, shown := range []string{"shown-key", "shown-label", "shown-error", "vault.open", "aes:2026a", "aes:2026b"} {
		if !bytes.Contains(data, []byte(shown)) {
			t.Errorf("%s is not in the file as it is: security.md says that it is", shown)
		}
	}
}

// problem returns why a run is blocked.
func problem(ctx context.Context, t *testing.T, client *runtime.Client, id journal.RunID) string {
	t.Helper()
	d, err := client.Describe(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	return d.Run.Task.Problem
}

func TestSealedNamesTheKey(t *testing.T) {
	if _, err := newSealed("c", map[string][]byte{"a": newKey()}); err == nil || !strings.Contains(err.Error(), `"c"`) {
		t.Errorf("error %v", err)
	}
	s, err := newSealed("a", map[string][]byte{"a": newKey()})
	if err != nil {
		t.Fatal(err)
	}
	var v string
	if err := s.Decode(journal.Payload{Encoding: "aes:b"}, &v); err == nil || !strings.Contains(err.Error(), "aes:b") {
		t.Errorf("error %v", err)
	}
}
